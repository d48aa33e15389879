import {
  RegistrarError,
  type Held,
  type HeldPage,
  type Offer,
  type Registrar,
  type RegistrarCaps,
  type RegistrarCheck,
  type RegistrarContext,
  type RegistrarKind,
} from '../../registrar'
import { domainCheckCommand, domainInfoCommand, hostInfoCommand, ns, pollCommand } from './commands'
import { offersOf } from './offers'
import { glueOf, registeredDomainOf, type RegisteredDomain } from './registered-domain'
import type { EppGreeting } from './responses'
import { endEppSession, inEppSession, type EppAccess, type EppSession } from './session'
import { accessOf, eppForm, validateEppSettings, type EppSettings } from './settings'

const caps: RegistrarCaps = {
  capabilities: ['register', 'renew', 'restore', 'transfer_in', 'auth_code', 'nameservers', 'glue', 'dnssec', 'contacts', 'lock'],
  // Registries differ.
  currency: null,
  checkBatch: 20,
  replays: 'none',
  priceGuard: 'maximum',
  tellsCharge: true,
  catching: 'allowed',
}

/** A registry that this installation is accredited at, or a gateway of a registrar, by EPP (RFC 5730 to 5734). */
export const epp: RegistrarKind<EppSettings> = {
  kind: 'epp',
  title: 'EPP',
  ...eppForm,
  caps,
  validate: validateEppSettings,
  open: (settings, around) => new Epp(settings, around),
}

/** Domains that are read for a page. */
const pageSize = 20
/** Hosts below a domain whose addresses are read. */
const maxGlue = 13

class Epp implements Registrar {
  readonly caps = caps
  readonly #access: EppAccess

  constructor(
    private readonly settings: EppSettings,
    private readonly around: RegistrarContext,
  ) {
    this.#access = accessOf(settings)
  }

  async check(): Promise<RegistrarCheck> {
    return await this.#inSession(async (session, { server, extensions }) => {
      const { queued } = await session.send(pollCommand)
      const hasPrices = extensions.includes(ns.fee)
      const { currency } = this.settings
      return {
        detail: `${server}, ${queued ?? 0} messages in the queue`,
        warnings: hasPrices ? [] : ['This server does not report prices (RFC 8748).'],
        currency: currency ?? null,
        balance: null,
      }
    })
  }

  /** EPP has no command that lists domains, so those that are tracked with this account are read, one by one. */
  async list(cursor: string | null): Promise<HeldPage> {
    const names = (await this.around.trackedNames?.(cursor, pageSize)) ?? []
    const domains = await this.#inSession(async (session, greeting) => {
      const found: (Held | null)[] = []
      for (const name of names) found.push((await this.#info(session, greeting, name))?.held ?? null)
      return found.filter(one => one !== null)
    })
    return { domains, next: names.length < pageSize ? null : names.at(-1)! }
  }

  async read(name: string): Promise<Held | null> {
    return await this.#inSession(async (session, greeting) => {
      const info = await this.#info(session, greeting, name)
      if (!info) return null
      const glue = []
      for (const host of info.hosts.slice(0, maxGlue)) glue.push(glueOf(await session.send(hostInfoCommand(host)), host))
      return { ...info.held, glue }
    })
  }

  async offers(names: readonly string[]): Promise<Offer[]> {
    return await this.#inSession(async (session, { extensions }) => {
      const currency = extensions.includes(ns.fee) ? (this.settings.currency ?? null) : undefined
      return offersOf(await session.send(domainCheckCommand(names, currency)), names)
    })
  }

  async close(): Promise<void> {
    await endEppSession(this.#access)
  }

  /** Null if the domain does not exist, or belongs to another registrar. */
  async #info(session: EppSession, { extensions }: EppGreeting, name: string): Promise<RegisteredDomain | null> {
    try {
      const response = await session.send(domainInfoCommand(name))
      const info = registeredDomainOf(response, name, extensions.includes(ns.secDns), this.around.clock.now())
      const own = this.settings.registrar_id ?? this.settings.user
      return info.registrar === own ? info : null
    } catch (error) {
      if (error instanceof RegistrarError && error.failure === 'not_found') return null
      throw error
    }
  }

  async #inSession<T>(call: (session: EppSession, greeting: EppGreeting) => Promise<T>): Promise<T> {
    return await inEppSession(this.around, this.#access, call)
  }
}
