import { ApiDouble } from './api-double'
import { defaultRegistered, type RegisteredName, type RegistryDouble } from './registry-double'

/** What only the registrar knows of a domain in the account. */
interface AccountSettings {
  autoRenew: boolean
  locked: boolean
  privacy: boolean
}

/** A domain in the account. */
export interface AccountDomain extends AccountSettings {
  name: string
  registered: string
  expires: string
  nameservers: string[]
}

/** The API of a registrar with one account. Its domains are the names of the registry with this registrar. */
export abstract class RegistrarDouble extends ApiDouble {
  /** What only the registrar knows, by name. */
  readonly settings = new Map<string, Partial<AccountSettings>>()
  /** Names that the list doesn’t have yet, such as those just bought. */
  readonly listedLate = new Set<string>()
  /** Whether the list only has every second domain. */
  isHalved = false
  /** Names that cost more than others. */
  readonly premium = new Set<string>()

  constructor(
    readonly registry: RegistryDouble,
    /** As in the registry. */
    readonly registrar: string,
    root: string,
  ) {
    super(root)
  }

  /** Registers a name in this account. */
  hold(name: string, known: RegisteredName = {}, settings: Partial<AccountSettings> = {}): void {
    this.registry.names.set(name, { expires: '2027-04-02T10:11:12Z', ...known, registrar: this.registrar })
    this.settings.set(name, settings)
  }

  /** The domain, if it is in this account. */
  protected held(name: string): AccountDomain | null {
    const known = this.registry.names.get(name)
    if (known?.registrar !== this.registrar) return null
    return {
      name,
      registered: known.registered ?? defaultRegistered,
      expires: known.expires!,
      nameservers: known.nameservers ?? ['ns1.example.net'],
      ...{ autoRenew: false, locked: true, privacy: true },
      ...this.settings.get(name),
    }
  }

  /** The domains of the account, by name. */
  protected listed(): AccountDomain[] {
    return [...this.registry.names.keys()]
      .sort()
      .flatMap(name => (this.listedLate.has(name) ? [] : (this.held(name) ?? [])))
      .filter((_, place) => !this.isHalved || place % 2 === 0)
  }
}
