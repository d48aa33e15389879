import { lowerName } from '../../../core/dns/name'
import type { TsigRecord } from '../../../core/dns/tsig-record'
import { verifyTsig, type TsigKey, type Verdict } from '../../../core/dns/tsig'
import type { NameKey } from './name-key'
import type { ZoneIndex } from './zone-index'
import { wireName } from './name-key'

/** A TSIG key as the thread knows it. */
export interface ServedKey extends TsigKey {
  /** Zones of this owner and no others are given to its holders. */
  owner: string
  /** Whether it is good for all zones of the owner that name no keys of their own. */
  forAll: boolean
}

/** Who may transfer what. */
export interface TransferRights {
  keys: ServedKey[]
  /** Zones that name their keys. */
  zones: { name: string; owner: string; keys: string[] }[]
}

/** The keys of the installation, and the zones that each of them opens. */
export class TransferKeys {
  #keys = new Map<string, ServedKey>()
  #zones = new Map<string, ReadonlySet<string>>()

  /** Takes the place of all that was known. */
  take({ keys, zones }: TransferRights): void {
    this.#keys = new Map(keys.map(key => [lowerName(key.name), key]))
    this.#zones = new Map(zones.map(one => [placeOf(one.owner, wireName(one.name).key), new Set(one.keys.map(lowerName))]))
  }

  /** @param now seconds since 1970 */
  verify(octets: Uint8Array, record: TsigRecord, now: number): Verdict {
    const key = this.#keys.get(lowerName(record.key))
    return verifyTsig(octets, record, key ? [key] : [], { now })
  }

  /** Whether holders of a key that was verified may have all of a zone. */
  opens(key: TsigKey, zone: ZoneIndex): boolean {
    const { owner, forAll } = key as ServedKey
    if (zone.owner === '' || owner !== zone.owner) return false
    return this.#zones.get(placeOf(owner, zone.name.key))?.has(lowerName(key.name)) ?? forAll
  }
}

const placeOf = (owner: string, zone: NameKey): string => `${owner} ${zone}`
