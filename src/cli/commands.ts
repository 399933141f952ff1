import type { Command } from './command.ts'
import type { Flag } from './flags.ts'

const NAMESPACE: Flag = {
  name: 'namespace',
  short: 'n',
  value: 'NAME',
  help: 'where to look, instead of the namespace of the context',
}

/** Queues are of the whole cluster. */
const FALLBACK: Flag = { ...NAMESPACE, help: 'whose Workloads to show where you may not read those of all' }

/** What every command has that asks a cluster, with kubectl's names and meanings. */
const CONNECTION_FLAGS: readonly Flag[] = [
  { name: 'kubeconfig', value: 'FILE', help: 'whose rights and which cluster; by default as kubectl finds it' },
  { name: 'context', value: 'NAME', help: 'context of the kubeconfig file, instead of its current one' },
]

const CLUSTER_FLAGS: readonly Flag[] = [
  ...CONNECTION_FLAGS,
  { name: 'config', value: 'FILE', help: "Muster's configuration file, instead of its ConfigMap in the cluster" },
]

/**
 * Flags and summaries are here, so that help needs no more than this file. What a command does is loaded when it is
 * run: `muster review` starts in a moment because it never loads the server.
 */
export const COMMANDS: readonly Command[] = [
  {
    name: 'serve',
    summary: 'HTTPS webhook server, and the reconciler when a cluster is given',
    usage: 'muster serve [--config FILE] [--kubeconfig FILE] [--port 8443] [--health-port 8080] [--certs-dir DIR]',
    flags: [
      { name: 'config', value: 'FILE', help: 'configuration file; without it the defaults hold' },
      { name: 'kubeconfig', value: 'FILE', help: 'serve and reconcile the cluster that this file names' },
      { name: 'context', value: 'NAME', help: 'context of the kubeconfig file, instead of its current one' },
      { name: 'port', value: 'PORT', default: '8443', help: 'HTTPS port of the webhooks; 0 takes any free one' },
      { name: 'health-port', value: 'PORT', default: '8080', help: 'HTTP port of /healthz, /readyz and /metrics' },
      {
        name: 'certs-dir',
        value: 'DIR',
        default: 'certs',
        help: 'where the certificates lie when there is no cluster',
      },
      { name: 'client-ca', value: 'FILE', help: 'answer only callers with a certificate that these have signed (PEM)' },
      {
        name: 'drain-seconds',
        value: 'N',
        default: '15',
        help: 'how long to go on answering after SIGTERM, and five times as long on connections that are left open',
      },
      {
        name: 'record',
        value: 'FOLDER',
        help: 'keep the reviews that are answered, without secrets, to test with them',
      },
      { name: 'log-level', value: 'LEVEL', default: 'info', help: 'trace, debug, info, warn, error or silent' },
    ],
    run: async flags => await (await import('./serve.ts')).serve(flags),
  },
  {
    name: 'review',
    names: true,
    summary: 'the decisions of the webhooks offline, on files',
    usage: `muster review [FILE...] [-f FILE] [--config FILE] [--cluster-state FILE]...
                [--stage all|mutating|validating] [--as USER] [--as-group GROUP]...
                [--fail-on deny|warn] [-o FORMAT | -o FORMAT=FILE]...`,
    flags: [
      { name: 'filename', short: 'f', value: 'FILE', multiple: true, help: 'file or folder, "-" for standard input' },
      { name: 'config', value: 'FILE', help: 'configuration file; without it muster.yaml here or above' },
      { name: 'cluster-state', value: 'FILE', multiple: true, help: 'file or folder with objects that exist already' },
      { name: 'stage', value: 'STAGE', default: 'all', help: 'all, mutating or validating' },
      { name: 'as', value: 'USER', help: 'user who makes the requests' },
      { name: 'as-group', value: 'GROUP', multiple: true, help: 'group of that user' },
      { name: 'namespace', short: 'n', value: 'NAME', default: 'default', help: 'namespace of objects that name none' },
      { name: 'fail-on', value: 'LEVEL', default: 'deny', help: 'deny, or warn: warnings end with 1, too' },
      {
        name: 'output',
        short: 'o',
        value: 'FORMAT',
        multiple: true,
        default: 'table',
        help: 'table, json, yaml, objects, diff, junit, sarif or github; FORMAT=FILE writes a file',
      },
      { name: 'only', value: 'WHICH', default: 'all', help: 'all, or denied: report what fails and nothing else' },
      { name: 'ignore', value: 'PATTERN', multiple: true, help: 'files and folders to leave out' },
      { name: 'skip-unknown', help: 'leave out documents that are no Kubernetes objects' },
      { name: 'stdin-filename', value: 'NAME', help: 'what standard input is called in reports' },
      { name: 'baseline', value: 'FILE', help: 'findings that are known and fail nothing' },
      { name: 'write-baseline', value: 'FILE', help: 'write all findings of today to such a file' },
    ],
    run: async flags => await (await import('./review.ts')).review(flags),
  },
  {
    name: 'test',
    names: true,
    summary: 'policy tests: cases with expectations',
    usage: `muster test [FOLDER...] [--config FILE] [--run PATTERN] [--coverage PERCENT] [--update]
              [--init MANIFEST] [-o FORMAT | -o FORMAT=FILE]...`,
    flags: [
      { name: 'config', value: 'FILE', help: 'configuration of cases that name none' },
      { name: 'run', value: 'PATTERN', help: 'only cases whose name matches this regular expression' },
      { name: 'coverage', value: 'PERCENT', help: 'fail when the cases touch fewer of the rules' },
      { name: 'update', help: 'show what differs, and rewrite the expectations' },
      { name: 'init', value: 'MANIFEST', help: 'make a case of a manifest or a recorded AdmissionReview' },
      {
        name: 'output',
        short: 'o',
        value: 'FORMAT',
        multiple: true,
        default: 'table',
        help: 'table, json or junit; FORMAT=FILE writes a file',
      },
    ],
    run: async flags => await (await import('./test.ts')).test(flags),
  },
  {
    name: 'config check',
    names: true,
    summary: 'is this configuration file right?',
    usage: 'muster config check [FILE...] [-f FILE]',
    flags: [{ name: 'filename', short: 'f', value: 'FILE', multiple: true, help: 'configuration file' }],
    run: async flags => await (await import('./config-check.ts')).configCheck(flags),
  },
  {
    name: 'build',
    names: true,
    summary: 'the Workload and PodGroups that a Job or JobSet compiles to',
    usage: 'muster build [FILE...] [-f FILE] [--kubernetes-version 1.36|1.37] [--uid UID] [-o yaml|json]',
    flags: [
      { name: 'filename', short: 'f', value: 'FILE', multiple: true, help: 'file or folder, "-" for standard input' },
      { name: 'kubernetes-version', value: 'VERSION', default: '1.37', help: 'whose objects to print: 1.36 or 1.37' },
      {
        name: 'uid',
        value: 'UID',
        default: '00000000-0000-0000-0000-000000000000',
        help: 'uid of objects that have none yet; names are made of it',
      },
      { name: 'output', short: 'o', value: 'FORMAT', default: 'yaml', help: 'yaml or json' },
    ],
    run: async flags => await (await import('./build.ts')).build(flags),
  },
  {
    name: 'explain',
    names: true,
    summary: 'why something waits, since when, and what would change that',
    usage: 'muster explain pod|job|jobset|group|workload NAME [-n NAMESPACE] [--kubeconfig FILE] [-o text|json]',
    flags: [
      NAMESPACE,
      { name: 'output', short: 'o', value: 'FORMAT', default: 'text', help: 'text or json' },
      ...CLUSTER_FLAGS,
    ],
    run: async flags => await (await import('./explain.ts')).explain(flags),
  },
  {
    name: 'queues',
    names: true,
    summary: 'the queues: limits, usage, who holds and who waits',
    usage: 'muster queues [QUEUE...] [-w] [--kubeconfig FILE] [-o table|wide|json]',
    flags: [
      FALLBACK,
      { name: 'all-namespaces', short: 'A', help: 'fail where you may not read all, instead of showing one' },
      { name: 'watch', short: 'w', help: 'follow what changes, until it is interrupted' },
      {
        name: 'output',
        short: 'o',
        value: 'FORMAT',
        default: 'table',
        help: 'table, wide (everybody, not only the first few) or json',
      },
      ...CLUSTER_FLAGS,
    ],
    run: async flags => await (await import('./queues.ts')).queues(flags),
  },
  {
    name: 'dashboard',
    summary: 'a local page: queues as bars, who waits and why, what was admitted',
    usage: 'muster dashboard [--port PORT] [--no-open] [-n NAMESPACE] [--kubeconfig FILE]',
    flags: [
      FALLBACK,
      { name: 'port', value: 'PORT', default: '0', help: 'port on 127.0.0.1; 0 takes any free one' },
      { name: 'no-open', help: 'print the address, and open no browser' },
      ...CLUSTER_FLAGS,
    ],
    run: async flags => await (await import('./dashboard.ts')).dashboard(flags),
  },
  {
    name: 'doctor',
    summary: 'is the installation sound? It changes nothing',
    usage: 'muster doctor [--kubeconfig FILE] [-o text|json]',
    flags: [{ name: 'output', short: 'o', value: 'FORMAT', default: 'text', help: 'text or json' }, ...CLUSTER_FLAGS],
    run: async flags => await (await import('./doctor.ts')).doctor(flags),
  },
  {
    name: 'uninstall',
    summary: 'takes everything of Muster out of a cluster, also when Muster itself is gone',
    usage: 'muster uninstall [--dry-run] [--keep-waiting | --start-waiting | --delete-waiting] [-o text|json]',
    flags: [
      { name: 'dry-run', help: 'say what would be done, and change nothing' },
      {
        name: 'keep-waiting',
        help: 'pods that wait stay behind their gate, Jobs suspended: somebody else starts them',
      },
      { name: 'start-waiting', help: 'what waits is started, all at once' },
      { name: 'delete-waiting', help: 'what waits is deleted' },
      { name: 'output', short: 'o', value: 'FORMAT', default: 'text', help: 'text or json' },
      ...CONNECTION_FLAGS,
    ],
    run: async flags => await (await import('./uninstall.ts')).uninstall(flags),
  },
]
