import { join } from 'node:path'
import type { PkiFiles } from './pki.ts'

export function etcdArgs(options: { folder: string; clientPort: number; peerPort: number }): string[] {
  const client = `http://127.0.0.1:${options.clientPort}`
  const peer = `http://127.0.0.1:${options.peerPort}`
  return [
    `--data-dir=${join(options.folder, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    // The data need not survive a power cut, only a restart of the API server.
    '--unsafe-no-fsync',
    '--log-level=warn',
  ]
}

export function apiServerArgs(options: {
  port: number
  etcdPort: number
  files: PkiFiles
  /** Feature gates and served versions. */
  features: readonly string[]
  audit?: { readonly policy: string; readonly log: string }
}): string[] {
  const { files, audit } = options
  return [
    '--bind-address=127.0.0.1',
    `--secure-port=${options.port}`,
    // A loopback address may not be advertised, and without an address the server looks for a default route, which
    // an offline machine has not. So it is one of the addresses that are reserved for documentation, and nobody
    // keeps it as an endpoint of the `kubernetes` Service.
    '--advertise-address=192.0.2.1',
    '--endpoint-reconciler-type=none',
    // Otherwise open watches keep a server that is asked to stop alive, and mute, for a minute.
    '--shutdown-watch-termination-grace-period=2s',
    `--etcd-servers=http://127.0.0.1:${options.etcdPort}`,
    '--service-cluster-ip-range=10.96.0.0/24',
    '--authorization-mode=Node,RBAC',
    '--allow-privileged=true',
    `--tls-cert-file=${files.serverCert}`,
    `--tls-private-key-file=${files.serverKey}`,
    `--client-ca-file=${files.caCert}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${files.serviceAccountPublicKey}`,
    `--service-account-signing-key-file=${files.serviceAccountPrivateKey}`,
    // Blocking: what a test has done is in the log when its request is answered.
    ...(audit
      ? [`--audit-policy-file=${audit.policy}`, `--audit-log-path=${audit.log}`, '--audit-log-mode=blocking']
      : []),
    ...options.features,
  ]
}

/**
 * Leader election is off: the only candidate would end itself when the API server is away for a restart.
 * The secure port is off too: nobody asks for metrics, and it would be one more port to clash on.
 */
export function controllerManagerArgs(options: {
  folder: string
  kubeconfig: string
  files: PkiFiles
  features: readonly string[]
  without: readonly string[]
}): string[] {
  return [
    `--kubeconfig=${options.kubeconfig}`,
    `--controllers=${['*', ...options.without.map(name => `-${name}`)].join(',')}`,
    // The default of 20 requests per second makes the start, with one ServiceAccount per controller, take 5 s.
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
    // The default is a system folder, which would be created.
    `--flex-volume-plugin-dir=${join(options.folder, 'flexvolume')}`,
    '--leader-elect=false',
    '--secure-port=0',
    // As kubeadm does: each controller is its own user, and the Job controller creates pods under its real name.
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${options.files.serviceAccountPrivateKey}`,
    `--root-ca-file=${options.files.caCert}`,
    ...options.features,
  ]
}

export function schedulerArgs(options: { kubeconfig: string; features: readonly string[] }): string[] {
  return [`--kubeconfig=${options.kubeconfig}`, '--leader-elect=false', '--secure-port=0', ...options.features]
}

export function kwokArgs(options: { kubeconfig: string; stages: string }): string[] {
  return [
    `--kubeconfig=${options.kubeconfig}`,
    `--config=${options.stages}`,
    '--manage-all-nodes=true',
    // Without leases the node lifecycle controller takes the nodes for dead after less than a minute.
    '--node-lease-duration-seconds=40',
  ]
}
