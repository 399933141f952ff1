export interface TlsMaterial {
  readonly ca?: string | Buffer
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
  readonly rejectUnauthorized?: boolean
  readonly servername?: string
}

/** What one request needs to be let in. Headers and certificate belong together: an exec plugin can change both. */
export interface Access {
  readonly headers: Readonly<Record<string, string>>
  readonly tls: TlsMaterial
}

/** What a kubeconfig says of the cluster and of whoever asks. */
export interface KubeconfigAnswer {
  readonly server: string
  /** Of the context, if it names one. */
  readonly namespace?: string
  readonly access: Access
}
