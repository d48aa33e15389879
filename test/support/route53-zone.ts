import { isIP } from 'node:net'

/** A record set as in the API. Members other than these are routing policies and the like. */
export interface Route53Set {
  /** Absolute, in lower case, with octal escapes. */
  Name: string
  Type: string
  TTL?: number
  values?: string[]
  /** XML of other members, by name, such as `AliasTarget`. */
  more: Record<string, string>
}

export interface Route53Change {
  action: 'CREATE' | 'DELETE' | 'UPSERT'
  set: Route53Set
}

/** A hosted zone with the rules of Route 53. */
export class Route53Zone {
  sets: Route53Set[]

  constructor(
    readonly id: string,
    /** Without the trailing dot. */
    readonly name: string,
    readonly callerReference: string,
    readonly isPrivate: boolean,
  ) {
    const apex = escapedName(`${name}.`)
    this.sets = [
      { Name: apex, Type: 'NS', TTL: 172_800, values: nameServers.map(one => `${one}.`), more: {} },
      {
        Name: apex,
        Type: 'SOA',
        TTL: 900,
        values: [`${nameServers[0]}. awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400`],
        more: {},
      },
    ]
  }

  /** Record sets in the order of lists: by labels from the right, then by type and identifier. */
  inOrder(): Route53Set[] {
    return this.sets.toSorted((a, b) => compare(orderOf(a), orderOf(b)))
  }

  /** Adds or replaces a record set without any checks. */
  put(set: Route53Set): void {
    this.sets = [...this.sets.filter(one => identity(one) !== identity(set)), set]
  }

  remove(name: string, type: string): void {
    this.sets = this.sets.filter(one => !(one.Name === name && one.Type === type))
  }

  /** Applies all changes or none. @returns the problems */
  change(changes: readonly Route53Change[]): string[] {
    const problems: string[] = []
    const before = this.sets
    for (const { action, set } of changes) {
      const problem = this.#problemOf(action, set)
      if (problem) problems.push(problem)
      else if (action === 'DELETE') this.sets = this.sets.filter(one => identity(one) !== identity(set))
      else this.put(set)
    }
    if (problems.length === 0) problems.push(...this.#conflicts(new Set(changes.map(one => one.set.Name))))
    if (problems.length > 0) this.sets = before
    return problems
  }

  #problemOf(action: Route53Change['action'], set: Route53Set): string | null {
    const { Name, Type, values = [], more } = set
    const apex = escapedName(`${this.name}.`)
    const shown = `[name='${Name}', type='${Type}'${more.SetIdentifier ? `, set-identifier='${more.SetIdentifier}'` : ''}]`
    if (Name !== apex && !Name.endsWith(`.${apex}`)) return `RRSet with DNS name ${Name} is not permitted in zone ${this.name}.`
    const existing = this.sets.find(one => identity(one) === identity(set))
    if (action === 'DELETE') {
      if (!existing) return `Tried to delete resource record set ${shown} but it was not found`
      if (contentOf(existing) !== contentOf(set))
        return `Tried to delete resource record set ${shown} but the values provided do not match the current values`
      return null
    }
    if (action === 'CREATE' && existing) return `Tried to create resource record set ${shown} but it already exists`
    const other = this.sets.find(one => one.Name === Name && one.Type === Type && identity(one) !== identity(set))
    if (other && 'SetIdentifier' in other.more !== 'SetIdentifier' in more)
      return `RRSet with DNS name ${Name}, type ${Type}${more.SetIdentifier ? `, SetIdentifier ${more.SetIdentifier}` : ''} cannot be created because a non multivalue answer rrset exists with the same name and type.`
    if (Type === 'CNAME' && Name === apex)
      return `RRSet of type CNAME with DNS name ${Name} is not permitted at apex in zone ${this.name}.`
    if (new Set(values).size < values.length)
      return `Duplicate Resource Record: '${values.find((one, at) => values.indexOf(one) < at)}'`
    if (values.length > 400) return `Number of values ${values.length} exceeds the limit of 400.`
    if (Type === 'CNAME' && values.length > 1) return `RRSet of type CNAME with DNS name ${Name} must have exactly one value.`
    const wrong = values.map(value => problemOfValue(Type, value)).find(one => one !== null)
    return wrong ? `Invalid Resource Record: '${wrong}'` : null
  }

  #conflicts(names: ReadonlySet<string>): string[] {
    const apex = escapedName(`${this.name}.`)
    const problems: string[] = []
    for (const name of names) {
      const types = new Set(this.sets.filter(one => one.Name === name).map(one => one.Type))
      if (types.has('CNAME') && types.size > 1)
        problems.push(
          `RRSet of type CNAME with DNS name ${name} is not permitted as it conflicts with other records with the same DNS name in zone ${this.name}.`,
        )
    }
    for (const type of ['NS', 'SOA'])
      if (!this.sets.some(one => one.Name === apex && one.Type === type))
        problems.push(`A HostedZone must contain at least one ${type} record for the zone itself.`)
    return problems
  }
}

export const nameServers = ['ns-1.awsdns-01.com', 'ns-2.awsdns-02.net', 'ns-3.awsdns-03.org', 'ns-4.awsdns-04.co.uk']

/** Types of the API. */
export const types = [
  ...[
    'SOA',
    'A',
    'TXT',
    'NS',
    'CNAME',
    'MX',
    'NAPTR',
    'PTR',
    'SRV',
    'SPF',
    'AAAA',
    'CAA',
    'DS',
    'TLSA',
    'SSHFP',
    'SVCB',
    'HTTPS',
  ],
]

/** Normalizes a name of a request: lower case, a trailing dot, and octal escapes for special characters. */
export function escapedName(text: string): string {
  const name = text.endsWith('.') ? text : `${text}.`
  return name
    .replaceAll(/\\([0-3][0-7]{2})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8) || 0xff00))
    .toLowerCase()
    .replaceAll(/[^a-z0-9_.-]/g, one => `\\${(one.charCodeAt(0) % 0xff00).toString(8).padStart(3, '0')}`)
}

/** Sort key of a record set or a position in a list. */
export const orderOf = ({ Name, Type, more }: Pick<Route53Set, 'Name' | 'Type' | 'more'>): string[] => [
  ...Name.split('.').toReversed(),
  ' ',
  Type,
  more.SetIdentifier ?? '',
]

export function compare(a: readonly string[], b: readonly string[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const [left, right] = [a[at] ?? '', b[at] ?? '']
    if (left !== right) return left < right ? -1 : 1
  }
  return 0
}

const identity = ({ Name, Type, more }: Route53Set): string => [Name, Type, more.SetIdentifier ?? ''].join(' ')

const contentOf = ({ TTL, values = [], more }: Route53Set): string =>
  JSON.stringify([TTL, values.toSorted(), Object.entries(more).sort()])

const name = String.raw`(?:\.|(?:[^\s.]{1,63}\.)*[^\s.]{1,63}\.?)`
const number = String.raw`\d{1,5}`
const strings = String.raw`"(?:[^"\\]|\\[0-3][0-7]{2}|\\["\\]){0,255}"`
const hex = '[0-9A-Fa-f]+'
const patterns: Record<string, RegExp> = {
  CNAME: new RegExp(`^${name}$`),
  NS: new RegExp(`^${name}$`),
  PTR: new RegExp(`^${name}$`),
  MX: new RegExp(`^${number} ${name}$`),
  SRV: new RegExp(`^${number} ${number} ${number} ${name}$`),
  TXT: new RegExp(`^${strings}(?: ${strings})*$`),
  SPF: new RegExp(`^${strings}(?: ${strings})*$`),
  CAA: new RegExp(String.raw`^\d{1,3} [a-z0-9]+ ${strings}$`),
  NAPTR: new RegExp(`^${number} ${number} ${strings} ${strings} ${strings} ${name}$`),
  DS: new RegExp(`^${number} ${number} [124] ${hex}$`),
  TLSA: new RegExp(`^[0-3] [01] [012] ${hex}$`),
  SSHFP: new RegExp(`^[0-6] [0-2] ${hex}$`),
  SVCB: new RegExp(`^${number} ${name}(?: [a-z0-9-]+(?:=\\S+)?)*$`),
  HTTPS: new RegExp(`^${number} ${name}(?: [a-z0-9-]+(?:=\\S+)?)*$`),
  SOA: /^\S+ \S+ \d+ \d+ \d+ \d+ \d+$/,
}

function problemOfValue(type: string, value: string): string | null {
  if (value.length > 4000) return `FATAL problem: ValueTooLong encountered with a value of ${value.length} characters`
  if (type === 'A')
    return isIP(value) === 4
      ? null
      : `FATAL problem: ARRDATAIllegalIPv4Address (Value is not a valid IPv4 address) encountered with '${value}'`
  if (type === 'AAAA') return isIP(value) === 6 ? null : `FATAL problem: AAAARRDATAIllegalIPv6Address encountered with '${value}'`
  if (patterns[type]!.test(value)) return null
  return type === 'TXT' || type === 'SPF'
    ? `FATAL problem: InvalidCharacterString (Value should be enclosed in quotation marks) encountered with '${value}'`
    : `FATAL problem: ${type}RRDATANotParseable encountered with '${value}'`
}
