// Package deploy tests what Fairlead is deployed with: the Helm chart, the manifests of
// docs/kubernetes.md, the files for Compose and systemd, dashboard and alerts, and the
// workflows that release it. It is a module of its own, since nothing else needs Helm and
// the types of Kubernetes. The whole module belongs to the second tier, because compiling
// them takes minutes; see internal/tier.
package deploy
