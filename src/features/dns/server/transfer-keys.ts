import { lowerName } from '../../../dns/name'
import type { TsigRecord } from '../../../dns/tsig-record'
import { verifyTsig, type TsigKey, type Verdict } from '../../../dns/tsig'
import { type NameKey, wireName } from './name-key'
import type { ZoneIndex } from './zone-index'

/** A TSIG key in the name server thread. */
export interface ServedKey extends TsigKey {
  /** Owner of the zones that the key gives access to. */
  owner: string
  /** Whether it may transfer all zones of the owner that have no keys of their own. */
  allZones: boolean
}

/** TSIG keys and what they may transfer. */
export interface TransferRights {
  keys: ServedKey[]
  /** Zones with keys of their own. */
  zones: { name: string; owner: string; keys: string[] }[]
}

/** The TSIG keys of the installation, and the zones they give access to. */
export class TransferKeys {
  #keys = new Map<string, ServedKey>()
  #zones = new Map<string, ReadonlySet<string>>()

  /** Replaces all keys and rights. */
  replace({ keys, zones }: TransferRights): void {
    this.#keys = new Map(keys.map(key => [lowerName(key.name), key]))
    this.#zones = new Map(zones.map(one => [zoneKeyOf(one.owner, wireName(one.name).key), new Set(one.keys.map(lowerName))]))
  }

  /** @param now seconds since 1970 */
  verify(octets: Uint8Array, record: TsigRecord, now: number): Verdict {
    const key = this.#keys.get(lowerName(record.key))
    return verifyTsig(octets, record, key ? [key] : [], { now })
  }

  /** Returns whether a verified key may transfer a zone. */
  mayTransfer(key: TsigKey, zone: ZoneIndex): boolean {
    const { owner, allZones } = key as ServedKey
    if (zone.owner === '' || owner !== zone.owner) return false
    return this.#zones.get(zoneKeyOf(owner, zone.name.key))?.has(lowerName(key.name)) ?? allZones
  }
}

const zoneKeyOf = (owner: string, zone: NameKey): string => `${owner} ${zone}`
