import { childOf, childrenOf, childText, xmlText, type XmlElement } from '../../src/adapters/xml'
import { ns } from '../../src/features/registrars/kinds/epp/commands'
import { contactsIn, dsIn, EppDomain, graceMs, later, nameserversIn, transferData } from './epp-domain'
import { date, EppObjects, EppRefusal, nameIn, type EppResult } from './epp-objects'
import type { RegisteredName, RegistryDouble } from './registry-double'

/** Prices in cents. */
interface EppPrices {
  create: number
  renew: number
  transfer: number
  restore: number
}

/** Codes of commands about domains that statuses prohibit, by their suffix. */
const prohibitions = {
  update: 'UpdateProhibited',
  renew: 'RenewProhibited',
  transfer: 'TransferProhibited',
  delete: 'DeleteProhibited',
}

/** Objects of a registry, and the commands of EPP on them (RFC 5731 to 5733, 3915, 5910, and 8748). */
export class EppRegistry {
  readonly objects: EppObjects
  /** Messages by registrar. */
  readonly queues = new Map<string, { id: number; date: number; text: string }[]>()
  /** What each registrar was charged for, in order. */
  readonly charges: { registrar: string; command: keyof EppPrices; name: string; cents: number }[] = []
  readonly prices: EppPrices = { create: 1000, renew: 1000, transfer: 800, restore: 4000 }
  /** Prices of names that cost more. */
  readonly premium = new Map<string, EppPrices>()
  currency = 'USD'
  /** Names that can’t be registered, with the reason. */
  readonly reserved = new Map<string, string>()
  readonly #domains = new WeakMap<RegisteredName, EppDomain>()
  #messages = 0

  constructor(
    readonly registry: RegistryDouble,
    readonly now: () => number,
  ) {
    this.objects = new EppObjects(now)
  }

  /** Undefined if the name is not registered. */
  domain(name: string): EppDomain | undefined {
    const known = this.registry.names.get(name)
    if (!known) return undefined
    const domain = this.#domains.get(known) ?? new EppDomain(name, known)
    this.#domains.set(known, domain)
    return domain
  }

  #all(): EppDomain[] {
    return [...this.registry.names.keys()].map(name => this.domain(name)!)
  }

  /** Runs a command of a registrar. @param verb the element of the command @throws EppRefusal */
  run(registrar: string, verb: XmlElement, extension: XmlElement | null): EppResult {
    if (verb.name === 'poll') return this.#poll(registrar, verb)
    const object = verb.children[0]
    if (!object || object.name !== verb.name) throw new EppRefusal(2001, 'Command syntax error')
    const { namespace } = object
    if (namespace === ns.domain) return this.#domain(registrar, verb, object, extension)
    if (namespace === ns.host)
      return this.objects.host(registrar, object, one => this.#all().some(domain => domain.nameservers.includes(one)))
    if (namespace === ns.contact)
      return this.objects.contact(registrar, object, one => this.#all().some(domain => domain.isOf(one)))
    throw new EppRefusal(2307, 'Unimplemented object service')
  }

  #poll(registrar: string, verb: XmlElement): EppResult {
    const queue = this.queues.get(registrar) ?? []
    if (verb.attributes.get('op') === 'ack') {
      if (String(queue[0]?.id) !== verb.attributes.get('msgID')) throw new EppRefusal(2303, 'Object does not exist')
      queue.shift()
      return { code: 1000 }
    }
    const [first] = queue
    return first ? { code: 1301, queue: { ...first, count: queue.length } } : { code: 1300 }
  }

  #tell(registrar: string, text: string): void {
    const queue = this.queues.get(registrar) ?? []
    queue.push({ id: ++this.#messages, date: this.now(), text })
    this.queues.set(registrar, queue)
  }

  #domain(registrar: string, verb: XmlElement, object: XmlElement, extension: XmlElement | null): EppResult {
    if (object.name === 'check') return this.#checkDomains(object, extension)
    const name = nameIn(object)
    if (object.name === 'create') return this.#create(registrar, name, object, extension)
    const domain = this.domain(name)
    if (!domain) throw new EppRefusal(2303, 'Object does not exist')
    if (object.name === 'info') return this.#info(registrar, domain, object)
    if (object.name === 'transfer') return this.#transfer(registrar, domain, verb.attributes.get('op') ?? '', object, extension)
    if (domain.sponsor !== registrar) throw new EppRefusal(2201, 'Authorization error')
    this.#refuseProhibited(domain, object.name as 'update', extension)
    if (object.name === 'renew') return this.#renew(domain, object, extension)
    if (object.name === 'update') return this.#update(domain, object, extension)
    return this.#delete(domain)
  }

  #refuseProhibited(domain: EppDomain, command: keyof typeof prohibitions, extension: XmlElement | null): void {
    const isRestore = command === 'update' && childOf(extension, 'update', ns.rgp) !== null
    const suffix = prohibitions[command]
    const prohibited = [...domain.statuses].find(
      one => one.endsWith(suffix) || (!isRestore && /^pending(Delete|Transfer|Create)$/.test(one)),
    )
    // The update that lifts the prohibition itself is allowed (RFC 5731 section 2.3).
    if (prohibited !== undefined && !(command === 'update' && prohibited === 'clientUpdateProhibited'))
      throw new EppRefusal(2304, 'Object status prohibits operation')
  }

  #checkDomains(object: XmlElement, extension: XmlElement | null): EppResult {
    const names = childrenOf(object, 'name').map(one => one.text.toLowerCase())
    if (names.length === 0) throw new EppRefusal(2003, 'Required parameter missing')
    const rows = names.map(name => {
      const reason = this.registry.names.has(name) ? 'In use' : this.reserved.get(name)
      const told = reason === undefined ? '' : `<domain:reason>${xmlText(reason)}</domain:reason>`
      return `<domain:cd><domain:name avail="${reason === undefined ? 1 : 0}">${xmlText(name)}</domain:name>${told}</domain:cd>`
    })
    const fees = childOf(extension, 'check', ns.fee)
    return {
      code: 1000,
      data: `<domain:chkData xmlns:domain="${ns.domain}">${rows.join('')}</domain:chkData>`,
      ...(fees && { extension: this.#fees(names, fees) }),
    }
  }

  #fees(names: string[], asked: XmlElement): string {
    const currency = childText(asked, 'currency') ?? this.currency
    if (currency !== this.currency) throw new EppRefusal(2004, 'Parameter value range error')
    const rows = names.map(name => {
      const premium = this.premium.get(name)
      const commands = childrenOf(asked, 'command').map(one => {
        const command = one.attributes.get('name') as keyof EppPrices
        const cents = (premium ?? this.prices)[command]
        const period = command === 'restore' ? '' : '<fee:period unit="y">1</fee:period>'
        const fee = `<fee:fee description="Fee" refundable="0">${(cents / 100).toFixed(2)}</fee:fee>`
        return `<fee:command name="${command}" standard="${premium ? 0 : 1}">${period}${fee}</fee:command>`
      })
      const kind = premium ? '<fee:class>premium</fee:class>' : ''
      return `<fee:cd avail="1"><fee:objID>${xmlText(name)}</fee:objID>${kind}${commands.join('')}</fee:cd>`
    })
    return `<fee:chkData xmlns:fee="${ns.fee}"><fee:currency>${currency}</fee:currency>${rows.join('')}</fee:chkData>`
  }

  /** Charges a registrar. A fee that was sent is the highest one that it accepts (RFC 8748 section 3.4). */
  #charge(registrar: string, command: keyof EppPrices, name: string, years: number, extension: XmlElement | null): string {
    const cents = (this.premium.get(name) ?? this.prices)[command] * (command === 'restore' ? 1 : years)
    const sent = childOf(extension, command === 'restore' ? 'update' : command, ns.fee)
    const accepted = sent && Math.round(Number(childText(sent, 'fee')) * 100)
    if (accepted !== null && accepted < cents) throw new EppRefusal(2004, 'Parameter value range error')
    this.charges.push({ registrar, command, name, cents })
    if (!sent) return ''
    const element = dataOf[sent.name]!
    const fee = `<fee:currency>${this.currency}</fee:currency><fee:fee>${(cents / 100).toFixed(2)}</fee:fee>`
    return `<fee:${element} xmlns:fee="${ns.fee}">${fee}</fee:${element}>`
  }

  #create(registrar: string, name: string, object: XmlElement, extension: XmlElement | null): EppResult {
    if (!/^([a-z0-9](-?[a-z0-9])*|xn--[a-z0-9-]+)\.[a-z]+$/.test(name) || name.split('.')[0]!.length > 63)
      throw new EppRefusal(2005, 'Parameter value syntax error')
    if (this.registry.names.has(name)) throw new EppRefusal(2302, 'Object exists')
    if (this.reserved.has(name)) throw new EppRefusal(2306, 'Parameter value policy error')
    const years = yearsIn(object)
    const authInfo = childText(childOf(object, 'authInfo'), 'pw')
    if (authInfo === null) throw new EppRefusal(2003, 'Required parameter missing')
    const registrant = childText(object, 'registrant')
    const contacts = contactsIn(object)
    const nameservers = nameserversIn(childOf(object, 'ns'))
    for (const id of [...(registrant === null ? [] : [registrant]), ...contacts.map(one => one.id)]) this.objects.contactNamed(id)
    for (const host of nameservers) this.objects.hostNamed(host)
    const fee = this.#charge(registrar, 'create', name, years, extension)
    const [registered, expires] = [date(this.now()), date(later(this.now(), years))]
    this.registry.names.set(name, { registered, expires, registrar, nameservers })
    const domain = this.domain(name)!
    Object.assign(domain, { registrant, contacts, authInfo, ds: dsIn(childOf(extension, 'create', ns.secDns)) })
    domain.graces.add('addPeriod')
    domain.publish(this.now())
    const dates = `<domain:crDate>${registered}</domain:crDate><domain:exDate>${expires}</domain:exDate>`
    return {
      code: 1000,
      data: `<domain:creData xmlns:domain="${ns.domain}"><domain:name>${name}</domain:name>${dates}</domain:creData>`,
      ...(fee !== '' && { extension: fee }),
    }
  }

  #info(registrar: string, domain: EppDomain, object: XmlElement): EppResult {
    const code = childText(childOf(object, 'authInfo'), 'pw')
    if (code !== null && code !== domain.authInfo) throw new EppRefusal(2202, 'Invalid authorization information')
    const isOwn = domain.sponsor === registrar
    const { name, statuses, graces } = domain
    const shown = statuses.size === 0 ? [domain.nameservers.length === 0 ? 'inactive' : 'ok'] : [...statuses]
    const below = [...this.objects.hosts.keys()].filter(one => one.endsWith(`.${name}`)).sort()
    const text = (tag: string, value: string | null) => (value === null ? '' : `<domain:${tag}>${xmlText(value)}</domain:${tag}>`)
    const data = [
      `<domain:infData xmlns:domain="${ns.domain}">${text('name', name)}${text('roid', `D${Bun.hash(name) % 100_000n}-DBL`)}`,
      ...shown.map(one => `<domain:status s="${one}"/>`),
      text('registrant', domain.registrant),
      ...domain.contacts.map(one => `<domain:contact type="${one.type}">${xmlText(one.id)}</domain:contact>`),
      domain.nameservers.length === 0
        ? ''
        : `<domain:ns>${domain.nameservers.map(one => text('hostObj', one)).join('')}</domain:ns>`,
      ...below.map(one => text('host', one)),
      text('clID', domain.sponsor),
      text('crID', domain.creator),
      text('crDate', date(domain.createdAt)),
      domain.updatedAt === null ? '' : text('upDate', date(domain.updatedAt)),
      text('exDate', date(domain.expiresAt)),
      isOwn || code !== null ? `<domain:authInfo>${text('pw', domain.authInfo)}</domain:authInfo>` : '',
      '</domain:infData>',
    ]
    const rgp = [...graces].map(one => `<rgp:rgpStatus s="${one}"/>`).join('')
    const ds = domain.ds
      .map(one =>
        Object.entries(one)
          .map(([key, value]) => `<secDNS:${key}>${value}</secDNS:${key}>`)
          .join(''),
      )
      .map(one => `<secDNS:dsData>${one}</secDNS:dsData>`)
      .join('')
    const extension = [
      rgp === '' ? '' : `<rgp:infData xmlns:rgp="${ns.rgp}">${rgp}</rgp:infData>`,
      ds === '' ? '' : `<secDNS:infData xmlns:secDNS="${ns.secDns}">${ds}</secDNS:infData>`,
    ].join('')
    return { code: 1000, data: data.join(''), ...(extension !== '' && { extension }) }
  }

  #renew(domain: EppDomain, object: XmlElement, extension: XmlElement | null): EppResult {
    const current = childText(object, 'curExpDate')
    if (current !== date(domain.expiresAt).slice(0, 10)) throw new EppRefusal(2306, 'Parameter value policy error')
    const years = yearsIn(object)
    const until = later(domain.expiresAt, years)
    if (until > later(this.now(), 10)) throw new EppRefusal(2105, 'Object is not eligible for renewal')
    const fee = this.#charge(domain.sponsor, 'renew', domain.name, years, extension)
    domain.expiresAt = until
    domain.graces.add('renewPeriod')
    domain.publish(this.now())
    return {
      code: 1000,
      data: `<domain:renData xmlns:domain="${ns.domain}"><domain:name>${domain.name}</domain:name><domain:exDate>${date(until)}</domain:exDate></domain:renData>`,
      ...(fee !== '' && { extension: fee }),
    }
  }

  #transfer(registrar: string, domain: EppDomain, op: string, object: XmlElement, extension: XmlElement | null): EppResult {
    const { transfer } = domain
    if (op === 'request') {
      if (domain.sponsor === registrar) throw new EppRefusal(2106, 'Object is not eligible for transfer')
      if (transfer) throw new EppRefusal(2300, 'Object pending transfer')
      if (childText(childOf(object, 'authInfo'), 'pw') !== domain.authInfo)
        throw new EppRefusal(2202, 'Invalid authorization information')
      this.#refuseProhibited(domain, 'transfer', null)
      const years = yearsIn(object)
      const fee = this.#charge(registrar, 'transfer', domain.name, years, extension)
      domain.transfer = { to: registrar, requestedAt: this.now(), years }
      domain.statuses.add('pendingTransfer')
      this.#tell(domain.sponsor, `Transfer requested: ${domain.name}`)
      return { code: 1001, data: transferData(domain, domain.transfer, 'pending'), ...(fee !== '' && { extension: fee }) }
    }
    if (!transfer) throw new EppRefusal(2301, 'Object not pending transfer')
    if (op === 'query') return { code: 1000, data: transferData(domain, transfer, 'pending') }
    const isGaining = op === 'cancel'
    if (registrar !== (isGaining ? transfer.to : domain.sponsor)) throw new EppRefusal(2201, 'Authorization error')
    const state = { approve: 'clientApproved', reject: 'clientRejected', cancel: 'clientCancelled' }[op]
    if (state === undefined) throw new EppRefusal(2001, 'Command syntax error')
    const data = transferData(domain, transfer, state)
    if (op === 'approve') this.#hand(domain, transfer)
    domain.transfer = null
    domain.statuses.delete('pendingTransfer')
    if (!isGaining) this.#tell(transfer.to, `Transfer ${op === 'approve' ? 'approved' : 'rejected'}: ${domain.name}`)
    domain.publish(this.now())
    return { code: 1000, data }
  }

  #hand(domain: EppDomain, { to, years }: { to: string; years: number }): void {
    domain.sponsor = to
    domain.expiresAt = Math.min(later(domain.expiresAt, years), later(this.now(), 10))
    domain.graces.add('transferPeriod')
  }

  #update(domain: EppDomain, object: XmlElement, extension: XmlElement | null): EppResult {
    const restore = childOf(childOf(extension, 'update', ns.rgp), 'restore')
    if (restore) return this.#restore(domain, restore, extension)
    const add = childOf(object, 'add')
    const rem = childOf(object, 'rem')
    const chg = childOf(object, 'chg')
    const statusesIn = (element: XmlElement | null) => childrenOf(element, 'status').map(one => one.attributes.get('s')!)
    if ([...statusesIn(add), ...statusesIn(rem)].some(one => !/^client[A-Z]\w+$/.test(one)))
      throw new EppRefusal(2306, 'Parameter value policy error')
    if (domain.statuses.has('clientUpdateProhibited') && !statusesIn(rem).includes('clientUpdateProhibited'))
      throw new EppRefusal(2304, 'Object status prohibits operation')
    const added = nameserversIn(childOf(add, 'ns'))
    for (const host of added) this.objects.hostNamed(host)
    for (const { id } of contactsIn(add)) this.objects.contactNamed(id)
    const registrant = childText(chg, 'registrant')
    if (registrant !== null) this.objects.contactNamed(registrant)
    const gone = new Set(nameserversIn(childOf(rem, 'ns')))
    domain.nameservers = [...new Set([...domain.nameservers.filter(one => !gone.has(one)), ...added])]
    const goneContacts = contactsIn(rem).map(one => `${one.type} ${one.id}`)
    domain.contacts = [...domain.contacts.filter(one => !goneContacts.includes(`${one.type} ${one.id}`)), ...contactsIn(add)]
    for (const one of statusesIn(rem)) domain.statuses.delete(one)
    for (const one of statusesIn(add)) domain.statuses.add(one)
    domain.registrant = registrant ?? domain.registrant
    domain.authInfo = childText(childOf(chg, 'authInfo'), 'pw') ?? domain.authInfo
    this.#updateDs(domain, childOf(extension, 'update', ns.secDns))
    domain.publish(this.now())
    return { code: 1000 }
  }

  #updateDs(domain: EppDomain, update: XmlElement | null): void {
    if (!update) return
    const rem = childOf(update, 'rem')
    const gone = new Set(dsIn(rem).map(one => JSON.stringify(one)))
    domain.ds = childText(rem, 'all') === 'true' ? [] : domain.ds.filter(one => !gone.has(JSON.stringify(one)))
    domain.ds.push(...dsIn(childOf(update, 'add')))
  }

  #restore(domain: EppDomain, restore: XmlElement, extension: XmlElement | null): EppResult {
    const op = restore.attributes.get('op')
    const isPending = domain.graces.has('pendingRestore')
    if (op === 'request' && domain.graces.has('redemptionPeriod')) {
      const fee = this.#charge(domain.sponsor, 'restore', domain.name, 1, extension)
      domain.graces.clear()
      domain.graces.add('pendingRestore')
      domain.publish(this.now())
      const rgp = `<rgp:upData xmlns:rgp="${ns.rgp}"><rgp:rgpStatus s="pendingRestore"/></rgp:upData>`
      return { code: 1000, extension: `${rgp}${fee}` }
    }
    if (op !== 'report' || !isPending) throw new EppRefusal(2304, 'Object status prohibits operation')
    domain.graces.clear()
    domain.statuses.delete('pendingDelete')
    domain.publish(this.now())
    return { code: 1000 }
  }

  #delete(domain: EppDomain): EppResult {
    if ([...this.objects.hosts.keys()].some(one => one.endsWith(`.${domain.name}`)))
      throw new EppRefusal(2305, 'Object association prohibits operation')
    if (this.now() - domain.createdAt < graceMs) {
      this.registry.names.delete(domain.name)
      return { code: 1000 }
    }
    domain.statuses.add('pendingDelete')
    domain.graces.clear()
    domain.graces.add('redemptionPeriod')
    domain.publish(this.now())
    return { code: 1001 }
  }
}

/** Elements that tell what was charged, by command. */
const dataOf: Readonly<Record<string, string>> = { create: 'creData', renew: 'renData', transfer: 'trnData', update: 'updData' }

function yearsIn(object: XmlElement): number {
  const period = childOf(object, 'period')
  if (!period) return 1
  const years = Number(period.text) / (period.attributes.get('unit') === 'm' ? 12 : 1)
  if (!Number.isInteger(years) || years < 1 || years > 10) throw new EppRefusal(2004, 'Parameter value range error')
  return years
}
