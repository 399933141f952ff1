import type { Command } from './command.ts'

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
      { name: 'drain-seconds', value: 'N', default: '15', help: 'how long to go on answering after SIGTERM' },
      { name: 'log-level', value: 'LEVEL', default: 'info', help: 'trace, debug, info, warn, error or silent' },
    ],
    run: async flags => await (await import('./serve.ts')).serve(flags),
  },
  {
    name: 'review',
    summary: 'the decisions of the webhooks offline, on files',
    usage: `muster review [FILE...] [-f FILE] [--config FILE] [--cluster-state FILE]...
                [--stage all|mutating|validating] [--as USER] [--as-group GROUP]... [-o table|json|yaml]`,
    flags: [
      { name: 'filename', short: 'f', value: 'FILE', multiple: true, help: 'file or folder, "-" for standard input' },
      { name: 'config', value: 'FILE', help: 'configuration file; without it the defaults hold' },
      { name: 'cluster-state', value: 'FILE', multiple: true, help: 'file or folder with objects that exist already' },
      { name: 'stage', value: 'STAGE', default: 'all', help: 'all, mutating or validating' },
      { name: 'as', value: 'USER', help: 'user who makes the requests' },
      { name: 'as-group', value: 'GROUP', multiple: true, help: 'group of that user' },
      { name: 'namespace', short: 'n', value: 'NAME', default: 'default', help: 'namespace of objects that name none' },
      { name: 'output', short: 'o', value: 'FORMAT', default: 'table', help: 'table, json or yaml' },
    ],
    run: async flags => await (await import('./review.ts')).review(flags),
  },
  {
    name: 'build',
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
]
