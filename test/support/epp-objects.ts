import { childOf, childrenOf, childText, xmlText, type XmlElement } from '../../src/adapters/xml'
import { ns } from '../../src/features/registrars/kinds/epp/commands'

/** A command that the registry refuses, with its result code (RFC 5730 section 3). */
export class EppRefusal extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message)
  }
}

/** What a command results in. */
export interface EppResult {
  code: number
  /** For people. Default: the text of RFC 5730. */
  message?: string
  data?: string
  extension?: string
  queue?: { id: number; count: number; date: number; text: string }
}

interface EppHost {
  name: string
  sponsor: string
  createdAt: number
  addresses: { ip: string; version: string }[]
}

interface EppContact {
  id: string
  sponsor: string
  createdAt: number
  /** `postalInfo`, `voice`, `fax`, and `email`, as XML. */
  content: string
  authInfo: string
}

/** Hosts and contacts of a registry, and the commands on them (RFC 5732 and 5733). */
export class EppObjects {
  readonly hosts = new Map<string, EppHost>()
  readonly contacts = new Map<string, EppContact>()

  constructor(private readonly now: () => number) {}

  /** @param isLinked whether a domain uses a host */
  host(registrar: string, object: XmlElement, isLinkedTo: (name: string) => boolean): EppResult {
    const data = (name: string, inner: string) => `<host:${name} xmlns:host="${ns.host}">${inner}</host:${name}>`
    if (object.name === 'check') {
      const rows = childrenOf(object, 'name').map(
        one =>
          `<host:cd><host:name avail="${this.hosts.has(one.text.toLowerCase()) ? 0 : 1}">${xmlText(one.text)}</host:name></host:cd>`,
      )
      return { code: 1000, data: data('chkData', rows.join('')) }
    }
    const name = nameIn(object)
    const addresses = (parent: XmlElement | null) =>
      childrenOf(parent, 'addr').map(one => ({ ip: one.text, version: one.attributes.get('ip') ?? 'v4' }))
    if (object.name === 'create') {
      if (this.hosts.has(name)) throw new EppRefusal(2302, 'Object exists')
      this.hosts.set(name, { name, sponsor: registrar, createdAt: this.now(), addresses: addresses(object) })
      return {
        code: 1000,
        data: data('creData', `<host:name>${name}</host:name><host:crDate>${date(this.now())}</host:crDate>`),
      }
    }
    const host = this.hostNamed(name)
    const isLinked = isLinkedTo(name)
    if (object.name === 'info') {
      const inner = [
        `<host:name>${name}</host:name><host:roid>H${Bun.hash(name) % 100_000n}-DBL</host:roid>`,
        `<host:status s="ok"/>${isLinked ? '<host:status s="linked"/>' : ''}`,
        ...host.addresses.map(one => `<host:addr ip="${one.version}">${xmlText(one.ip)}</host:addr>`),
        `<host:clID>${xmlText(host.sponsor)}</host:clID><host:crID>${xmlText(host.sponsor)}</host:crID>`,
        `<host:crDate>${date(host.createdAt)}</host:crDate>`,
      ]
      return { code: 1000, data: data('infData', inner.join('')) }
    }
    if (host.sponsor !== registrar) throw new EppRefusal(2201, 'Authorization error')
    if (object.name === 'delete') {
      if (isLinked) throw new EppRefusal(2305, 'Object association prohibits operation')
      this.hosts.delete(name)
      return { code: 1000 }
    }
    const gone = new Set(addresses(childOf(object, 'rem')).map(one => one.ip))
    host.addresses = [...host.addresses.filter(one => !gone.has(one.ip)), ...addresses(childOf(object, 'add'))]
    return { code: 1000 }
  }

  /** @param isUsed whether a domain uses a contact */
  contact(registrar: string, object: XmlElement, isUsed: (id: string) => boolean): EppResult {
    const data = (name: string, inner: string) => `<contact:${name} xmlns:contact="${ns.contact}">${inner}</contact:${name}>`
    if (object.name === 'check') {
      const rows = childrenOf(object, 'id').map(
        one =>
          `<contact:cd><contact:id avail="${this.contacts.has(one.text) ? 0 : 1}">${xmlText(one.text)}</contact:id></contact:cd>`,
      )
      return { code: 1000, data: data('chkData', rows.join('')) }
    }
    const id = childText(object, 'id')
    if (id === null) throw new EppRefusal(2003, 'Required parameter missing')
    const contentOf = (parent: XmlElement) =>
      parent.children
        .filter(one => ['postalInfo', 'voice', 'fax', 'email'].includes(one.name))
        .map(one => rendered(one, 'contact'))
        .join('')
    if (object.name === 'create') {
      if (this.contacts.has(id)) throw new EppRefusal(2302, 'Object exists')
      const authInfo = childText(childOf(object, 'authInfo'), 'pw') ?? ''
      this.contacts.set(id, { id, sponsor: registrar, createdAt: this.now(), content: contentOf(object), authInfo })
      const inner = `<contact:id>${xmlText(id)}</contact:id><contact:crDate>${date(this.now())}</contact:crDate>`
      return { code: 1000, data: data('creData', inner) }
    }
    const contact = this.contactNamed(id)
    if (contact.sponsor !== registrar) throw new EppRefusal(2201, 'Authorization error')
    if (object.name === 'info') {
      const inner = [
        `<contact:id>${xmlText(id)}</contact:id><contact:roid>C${Bun.hash(id) % 100_000n}-DBL</contact:roid>`,
        `<contact:status s="ok"/>${contact.content}`,
        `<contact:clID>${xmlText(contact.sponsor)}</contact:clID><contact:crID>${xmlText(contact.sponsor)}</contact:crID>`,
        `<contact:crDate>${date(contact.createdAt)}</contact:crDate>`,
        `<contact:authInfo><contact:pw>${xmlText(contact.authInfo)}</contact:pw></contact:authInfo>`,
      ]
      return { code: 1000, data: data('infData', inner.join('')) }
    }
    if (object.name === 'delete') {
      if (isUsed(id)) throw new EppRefusal(2305, 'Object association prohibits operation')
      this.contacts.delete(id)
      return { code: 1000 }
    }
    const chg = childOf(object, 'chg')
    if (chg) contact.content = contentOf(chg)
    return { code: 1000 }
  }

  contactNamed(id: string): EppContact {
    const found = this.contacts.get(id)
    if (!found) throw new EppRefusal(2303, 'Object does not exist')
    return found
  }

  hostNamed(name: string): EppHost {
    const found = this.hosts.get(name)
    if (!found) throw new EppRefusal(2303, 'Object does not exist')
    return found
  }
}

export const date = (ms: number): string => new Date(ms).toISOString()

export function nameIn(object: XmlElement): string {
  const name = childText(object, 'name')?.toLowerCase()
  if (name === undefined) throw new EppRefusal(2003, 'Required parameter missing')
  return name
}

/** An element as XML, with this prefix. */
function rendered({ name, attributes, children, text }: XmlElement, prefix: string): string {
  const shown = [...attributes].filter(([key]) => !key.startsWith('xmlns')).map(([key, value]) => ` ${key}="${xmlText(value)}"`)
  return `<${prefix}:${name}${shown.join('')}>${xmlText(text)}${children.map(one => rendered(one, prefix)).join('')}</${prefix}:${name}>`
}
