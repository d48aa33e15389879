import { childrenOf, childText, xmlText, type XmlElement } from '../../src/adapters/xml'
import { ns } from '../../src/features/registrars/kinds/epp/commands'
import { rdapStatuses } from '../../src/features/registry/statuses'
import { date } from './epp-objects'
import { defaultRegistered, type RegisteredName } from './registry-double'

/** A name of the registry, with what EPP knows in addition. */
export class EppDomain {
  /** In the words of EPP. */
  readonly statuses: Set<string>
  /** Grace periods (RFC 3915). */
  readonly graces: Set<string>
  readonly creator: string
  updatedAt: number | null = null
  registrant: string | null = null
  contacts: { type: string; id: string }[] = []
  ds: { keyTag: string; alg: string; digestType: string; digest: string }[] = []
  authInfo = 'secret-code'
  transfer: { to: string; requestedAt: number; years: number } | null = null

  constructor(
    readonly name: string,
    private readonly known: RegisteredName,
  ) {
    const words = (known.statuses ?? []).map(one => one.replaceAll(/ (\w)/g, (_, letter: string) => letter.toUpperCase()))
    this.graces = new Set(words.filter(one => one.endsWith('Period') || one === 'pendingRestore'))
    this.statuses = new Set(words.filter(one => one !== 'active' && !this.graces.has(one)))
    this.creator = this.sponsor
  }

  /** Id of the registrar. */
  get sponsor(): string {
    return this.known.registrar ?? ''
  }
  set sponsor(registrar: string) {
    this.known.registrar = registrar
  }
  get createdAt(): number {
    return Date.parse(this.known.registered ?? defaultRegistered)
  }
  get expiresAt(): number {
    return Date.parse(this.known.expires ?? '2027-04-02T10:11:12Z')
  }
  set expiresAt(at: number) {
    this.known.expires = date(at)
  }
  get nameservers(): string[] {
    return this.known.nameservers ?? []
  }
  set nameservers(names: string[]) {
    this.known.nameservers = names
  }

  /** Whether a contact is its registrant, or another contact of it. */
  isOf(contact: string): boolean {
    return this.registrant === contact || this.contacts.some(one => one.id === contact)
  }

  /** The other doors of the registry show the change, too. @param now ms UTC */
  publish(now: number): void {
    this.updatedAt = now
    const statuses = rdapStatuses([...this.statuses, ...this.graces])
    this.known.statuses = statuses.length === 0 ? ['active'] : statuses
  }
}

/** How long a domain can be deleted again, and a transfer can be rejected, in milliseconds. */
export const graceMs = 5 * 86_400_000

export const later = (ms: number, years: number) => {
  const at = new Date(ms)
  at.setUTCFullYear(at.getUTCFullYear() + years)
  return at.getTime()
}

export const contactsIn = (parent: XmlElement | null) =>
  childrenOf(parent, 'contact').map(one => ({ type: one.attributes.get('type') ?? '', id: one.text }))

export const nameserversIn = (parent: XmlElement | null) => childrenOf(parent, 'hostObj').map(one => one.text.toLowerCase())

export const dsIn = (parent: XmlElement | null): EppDomain['ds'] =>
  childrenOf(parent, 'dsData').map(one => {
    const text = (name: string) => childText(one, name) ?? ''
    return { keyTag: text('keyTag'), alg: text('alg'), digestType: text('digestType'), digest: text('digest') }
  })

export function transferData(
  domain: EppDomain,
  { to, requestedAt, years }: { to: string; requestedAt: number; years: number },
  state: string,
): string {
  const text = (tag: string, value: string) => `<domain:${tag}>${xmlText(value)}</domain:${tag}>`
  const inner = [
    text('name', domain.name),
    text('trStatus', state),
    text('reID', to),
    text('reDate', date(requestedAt)),
    text('acID', domain.sponsor),
    text('acDate', date(requestedAt + graceMs)),
    text('exDate', date(later(domain.expiresAt, years))),
  ]
  return `<domain:trnData xmlns:domain="${ns.domain}">${inner.join('')}</domain:trnData>`
}
