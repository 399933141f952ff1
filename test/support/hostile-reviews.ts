/** Reviews that are as large and as unpleasant as the body limit allows. Each is about `size` bytes of JSON. */
export type HostileReview = (size: number) => Buffer

const HEAD =
  '{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"hostile-1",' +
  '"kind":{"group":"","version":"v1","kind":"Pod"},"resource":{"group":"","version":"v1","resource":"pods"},' +
  '"name":"big","namespace":"team-a","userInfo":{"username":"eve"},'

const create = (pod: string): Buffer => Buffer.from(`${HEAD}"operation":"CREATE","object":${pod}}}`)

const QUEUE = '"kueue.x-k8s.io/queue-name":"team-a"'
const CONTAINERS = '"containers":[{"name":"main"}]'

interface Parts {
  readonly labels?: string
  readonly annotations?: string
  readonly metadata?: string
  readonly spec?: string
}

/** Each part is JSON text, so that it can say the same key twice and nest as it likes. */
function pod({ labels = '', annotations = '', metadata = '', spec = CONTAINERS }: Parts): string {
  return (
    `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"big","labels":{${QUEUE}${labels}},` +
    `"annotations":{"a":"b"${annotations}}${metadata}},"spec":{${spec}}}`
  )
}

/** `text(0)text(1)...` up to about `size` characters. */
function repeated(size: number, text: (index: number) => string): string {
  const parts: string[] = []
  for (let length = 0, index = 0; length < size; index++) {
    const part = text(index)
    parts.push(part)
    length += part.length
  }
  return parts.join('')
}

const list = (size: number, item: (index: number) => string): string =>
  `[${repeated(size, i => `${item(i)},`)}${item(0)}]`
const annotation = (key: string, value: string): string => `,"${key}":${JSON.stringify(value)}`
const kueue = (key: string, value: string): string => annotation(`kueue.x-k8s.io/${key}`, value)
const GROUP = ',"kueue.x-k8s.io/pod-group-name":"g","kueue.x-k8s.io/pod-group-role":"driver"'

/** Half of the size, for texts that are escaped once more on their way into an annotation. */
const escapedSets = (size: number, sets: (size: number) => string): Buffer =>
  create(pod({ labels: GROUP, annotations: kueue('pod-group-sets', sets(size / 2)) }))

export const HOSTILE: Readonly<Record<string, HostileReview>> = {
  'nothing but brackets': size => Buffer.from('['.repeat(size)),
  'brackets at the allowed depth': size =>
    create(pod({ metadata: `,"x":${list(size, () => `${'['.repeat(90)}${']'.repeat(90)}`)}` })),
  'many empty lists': size => create(pod({ metadata: `,"x":${list(size, () => '[]')}` })),
  'many empty objects': size => create(pod({ metadata: `,"x":${list(size, () => '{}')}` })),
  'many objects with a key of their own': size => create(pod({ metadata: `,"x":${list(size, i => `{"k${i}":1}`)}` })),
  'as many objects as are read': size =>
    create(pod({ metadata: `,"x":${list(Math.min(size, 390_000 * 14), i => `{"k${i}":${i}.5}`)}` })),
  'many short texts': size => create(pod({ metadata: `,"x":${list(size, i => `"${i.toString(36)}"`)}` })),
  'many fractions': size => create(pod({ metadata: `,"x":${list(size, i => `${i % 10}.5`)}` })),
  'many labels': size => create(pod({ labels: repeated(size, i => `,"k${i}":"v"`) })),
  'many labels that are numbers': size => create(pod({ labels: repeated(size, i => `,"k${i}":1`) })),
  'many annotations': size => create(pod({ annotations: repeated(size, i => `,"k${i}":"v"`) })),
  'a key that goes on and on': size => create(pod({ annotations: `,"${'k'.repeat(size)}":1` })),
  'one huge annotation': size => create(pod({ annotations: annotation('x', 'x'.repeat(size)) })),
  'a huge annotation of escapes': size => create(pod({ annotations: annotation('x', '\n'.repeat(size / 2)) })),
  'finalizers that are numbers': size => create(pod({ metadata: `,"finalizers":${list(size, String)}` })),
  'many finalizers': size => create(pod({ metadata: `,"finalizers":${list(size, i => `"f${i}"`)}` })),
  'many owners': size =>
    create(pod({ metadata: `,"ownerReferences":${list(size, i => `{"kind":"Job","name":"n${i}"}`)}` })),
  'an owner with an endless name': size =>
    create(
      pod({
        metadata: `,"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"${'n'.repeat(size)}","uid":"1","controller":true}]`,
      }),
    ),
  'many containers': size =>
    create(pod({ spec: `"containers":${list(size, i => `{"name":"c${i}","ports":[{"containerPort":1}]}`)}` })),
  'many requests': size =>
    create(
      pod({ spec: `"containers":[{"resources":{"requests":{"x":1${repeated(size, i => `,"r${i}":"0.0${i}Gi"`)}}}}]` }),
    ),
  'requests of many digits': size =>
    create(
      pod({
        spec: `"containers":[{"resources":{"requests":{"x":1${repeated(size, i => `,"r${i}":"${'9'.repeat(250)}Ki"`)}}}}]`,
      }),
    ),
  'selectors in another script': size =>
    create(
      pod({ spec: `${CONTAINERS},"nodeSelector":{"x":"y"${repeated(size / 2, i => `,"\u{1f600}${i * 7919}":"v"`)}}` }),
    ),
  'an endless queue name': size => create(pod({ labels: `,${QUEUE.slice(0, -8)}"${'a-a.'.repeat(size / 4)}!"` })),
  'an endless group name': size => create(pod({ annotations: kueue('pod-group-name', `${'a.'.repeat(size / 2)}!`) })),
  'an endless count': size => create(pod({ labels: GROUP, annotations: kueue('pod-group-count', '9'.repeat(size)) })),
  'a count that is no number': size =>
    create(pod({ labels: GROUP, annotations: kueue('pod-group-count', '\u0001'.repeat(size / 6)) })),
  'many admission gates': size =>
    create(
      pod({
        annotations: kueue(
          'admission-gated-by',
          repeated(size, i => `a.io/${i},`),
        ),
      }),
    ),
  'many empty admission gates': size => create(pod({ annotations: kueue('admission-gated-by', ','.repeat(size)) })),
  'many wrong admission gates': size =>
    create(
      pod({
        annotations: kueue(
          'admission-gated-by',
          repeated(size, i => `${i},`),
        ),
      }),
    ),
  'one gate again and again': size =>
    create(pod({ annotations: kueue('admission-gated-by', 'a.io/b,'.repeat(size / 7)) })),
  'many group sets': size => escapedSets(size, half => list(half, i => `{"name":"s${i}","count":1}`)),
  'a group set with many keys': size =>
    escapedSets(size, half => `[{"name":"driver"${repeated(half, i => `,"k${i}":1`)}}]`),
  'a group set with many containers': size =>
    escapedSets(
      size,
      half => `[{"name":"driver","count":1,"template":{"spec":{"containers":${list(half, () => '{}')}}}}]`,
    ),
  'group sets of empty lists': size => escapedSets(size, half => list(2 * half, () => '[]')),
  'a group set that is a deep nest': size => escapedSets(size, half => '['.repeat(half) + ']'.repeat(half)),
  'group sets that are YAML': size => escapedSets(size, half => '- name: driver\n'.repeat(half / 15)),
  'many topology layers': size =>
    create(
      pod({
        annotations: kueue(
          'podset-slice-required-topology-constraints',
          list(size / 2, () => '{"topology":"a/b","size":1}'),
        ),
      }),
    ),
  'an endless topology': size => create(pod({ annotations: kueue('podset-required-topology', 'a/'.repeat(size / 2)) })),
  'an update of two large objects': size => {
    const old = pod({ annotations: repeated(size / 2, i => `,"k${i}":"v"`) })
    const now = pod({ annotations: repeated(size / 2, i => `,"k${i}":"w"`) })
    return Buffer.from(`${HEAD}"operation":"UPDATE","oldObject":${old},"object":${now}}}`)
  },
  'a user in many groups': size =>
    Buffer.from(
      `${HEAD.replace('"eve"', `"eve","groups":${list(size, i => `"g${i}"`)}`)}"operation":"CREATE","object":${pod({})}}}`,
    ),
}
