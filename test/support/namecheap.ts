import { xmlText } from '../../src/adapters/xml'
import type { ApiRequest, ApiResponse } from './api-double'
import { RegistrarDouble, type AccountDomain } from './registrar-double'
import type { RegistryDouble } from './registry-double'

class Refused extends Error {
  constructor(
    readonly number: number,
    message: string,
  ) {
    super(message)
  }
}

/** An account at Namecheap (XML API). */
export class NamecheapDouble extends RegistrarDouble {
  /** Names whose registry charges an additional fee. */
  readonly early = new Set<string>()
  readonly username = 'ada'
  readonly clientIp = '192.0.2.1'
  balance = '41.20'
  /** Commands, in order. */
  readonly commands: string[] = []
  /** Names whose registry can’t be asked. */
  readonly unchecked = new Set<string>()
  /** Replaces the XML of a response. */
  rewritten: (xml: string) => string = xml => xml

  constructor(registry: RegistryDouble) {
    super(registry, 'NameCheap, Inc.', '/xml.response')
  }

  protected answer(request: ApiRequest, fault: Parameters<RegistrarDouble['answer']>[1]): ApiResponse {
    if (fault === 'throttled') return { status: 405, text: '<html><body>Method Not Allowed</body></html>' }
    const form = new URLSearchParams(request.text)
    const command = form.get('Command') ?? ''
    this.commands.push(command)
    const xml = (status: string, errors: string, result: string) =>
      [
        '<?xml version="1.0" encoding="utf-8"?>',
        `<ApiResponse Status="${status}" xmlns="http://api.namecheap.com/xml.response">`,
        `<Errors>${errors}</Errors><Warnings />`,
        `<RequestedCommand>${xmlText(command.toLowerCase())}</RequestedCommand>`,
        `<CommandResponse Type="${xmlText(command)}">${result}</CommandResponse>`,
        '<Server>PHX01APIEXT01</Server><GMTTimeDifference>--5:00</GMTTimeDifference><ExecutionTime>0.01</ExecutionTime></ApiResponse>',
      ].join('\n')
    try {
      if (fault) throw new Refused(2030166, fault.message ?? fault.code)
      return { status: 200, text: this.rewritten(xml('OK', '', this.#run(command, form))) }
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const errors = `<Error Number="${error.number}">${xmlText(error.message)}</Error>`
      // With a result that means nothing.
      const junk = '<DomainGetInfoResult Status="Ok" DomainName="junk.com" IsOwner="true" />'
      return { status: 200, text: xml('ERROR', errors, junk) }
    }
  }

  #run(command: string, form: URLSearchParams): string {
    if (form.get('ApiUser') !== this.username) throw new Refused(1010101, 'Parameter APIUser is missing')
    if (form.get('ApiKey') !== this.token) throw new Refused(1011102, `API Key is invalid: ${form.get('ApiKey')}`)
    if (form.get('ClientIp') !== this.clientIp) throw new Refused(1011150, 'Invalid request IP')
    switch (command) {
      case 'namecheap.users.getBalances':
        return `<UserGetBalancesResult Currency="USD" AvailableBalance="${this.balance}" AccountBalance="${this.balance}" EarnedAmount="0.00" />`
      case 'namecheap.users.getPricing':
        return this.#pricing(form.get('ProductName') ?? '')
      case 'namecheap.domains.getList':
        return this.#list(form)
      case 'namecheap.domains.getInfo':
        return this.#details((form.get('DomainName') ?? '').toLowerCase())
      case 'namecheap.domains.check':
        return this.#check((form.get('DomainList') ?? '').split(','))
      default:
        throw new Refused(2011170, 'Command is invalid')
    }
  }

  #list(form: URLSearchParams): string {
    const [page, size, term] = [Number(form.get('Page')), Number(form.get('PageSize')), form.get('SearchTerm')]
    if (size < 10 || size > 100) throw new Refused(2011169, 'PageSize must be from 10 to 100')
    this.beforePage(page, { path: '/' } as ApiRequest)
    const all = this.listed().filter(one => term === null || one.name.includes(term))
    const rows = all.slice((page - 1) * size, page * size).map((one, n) => this.#row(one, n))
    const paging = `<TotalItems>${all.length}</TotalItems><CurrentPage>${page}</CurrentPage><PageSize>${size}</PageSize>`
    return `<DomainGetListResult>${rows.join('')}</DomainGetListResult><Paging>${paging}</Paging>`
  }

  #row({ name, registered, expires, autoRenew, locked, privacy }: AccountDomain, n: number): string {
    const attributes = {
      ...{ ID: 1000 + n, Name: name, User: this.username, Created: day(registered), Expires: day(expires) },
      ...{ IsExpired: Date.parse(expires) < Date.now(), IsLocked: locked, AutoRenew: autoRenew },
      ...{ WhoisGuard: privacy ? 'ENABLED' : 'NOTPRESENT', IsPremium: false, IsOurDNS: true },
    }
    return `<Domain ${attributesOf(attributes)} />`
  }

  #details(name: string): string {
    if (!this.registry.names.has(name)) throw new Refused(2019166, 'Domain not found')
    const held = this.held(name)
    if (!held) throw new Refused(2016166, 'Domain is not associated with your account')
    const servers = held.nameservers.map(one => `<Nameserver>${one}</Nameserver>`).join('')
    const dates = `<CreatedDate>${day(held.registered)}</CreatedDate><ExpiredDate>${day(held.expires)}</ExpiredDate><NumYears>0</NumYears>`
    return [
      `<DomainGetInfoResult ${attributesOf({ Status: 'Ok', ID: 57_579, DomainName: name, OwnerName: this.username, IsOwner: true })}>`,
      `<DomainDetails>${dates}</DomainDetails><Whoisguard Enabled="${held.privacy ? 'True' : 'False'}"><ID>53536</ID></Whoisguard>`,
      `<DnsDetails ProviderType="CUSTOM" IsUsingOurDNS="false">${servers}</DnsDetails></DomainGetInfoResult>`,
    ].join('')
  }

  #check(names: string[]): string {
    if (names.length > 50) throw new Refused(2011169, 'Only 50 domains are allowed in a single check command')
    const rows = names.map(name => {
      const premium = this.premium.has(name)
      const failed = this.unchecked.has(name)
      return `<DomainCheckResult ${attributesOf({
        ...{ Domain: name, Available: !failed && !this.registry.names.has(name) },
        ...{ ErrorNo: failed ? 3031510 : 0, Description: failed ? 'The registry did not respond' : '' },
        ...{ IsPremiumName: premium, PremiumRegistrationPrice: premium ? '1250.0000' : '0' },
        ...{ PremiumRenewalPrice: premium ? '1250.0000' : '0' },
        ...{ IcannFee: '0', EapFee: this.early.has(name) ? '125.0' : '0.0' },
      })} />`
    })
    return rows.join('')
  }

  /** Without a price of its own, the account pays the usual one. */
  #pricing(tld: string): string {
    const prices = { REACTIVATE: '120.00', REGISTER: '10.28', RENEW: '14.58', TRANSFER: '9.98' }
    const categories = Object.entries(prices).map(([action, price]) => {
      const rows = Array.from({ length: 10 }, (_, n) =>
        attributesOf({
          ...{ Duration: n + 1, DurationType: 'YEAR', Price: price, PricingType: 'MULTIPLE', RegularPrice: '16.98' },
          ...{ YourPrice: action === 'RENEW' ? '0.00' : price, CouponPrice: '', Currency: 'USD' },
          ...{ YourAdditonalCost: '0.20', YourAdditonalCostType: 'MULTIPLE' },
        }),
      ).map(one => `<Price ${one} />`)
      return `<ProductCategory Name="${action}"><Product Name="${tld.toLowerCase()}">${rows.join('')}</Product></ProductCategory>`
    })
    return `<UserGetPricingResult><ProductType Name="DOMAIN">${categories.join('')}</ProductType></UserGetPricingResult>`
  }
}

/** Such as 04/02/2027. */
const day = (iso: string): string => `${iso.slice(5, 7)}/${iso.slice(8, 10)}/${iso.slice(0, 4)}`

const attributesOf = (values: Record<string, unknown>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}="${xmlText(String(value))}"`)
    .join(' ')
