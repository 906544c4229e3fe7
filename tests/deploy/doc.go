// Package deploy tests the deployment files of Fairlead: the Helm chart, the manifests in
// docs/kubernetes.md, the files for Compose and systemd, the dashboard and alerts, and the
// release workflows. It is a module of its own, because no other code needs Helm and the
// Kubernetes types. The whole module belongs to the second tier, because compiling these
// takes minutes; see internal/tier.
package deploy
