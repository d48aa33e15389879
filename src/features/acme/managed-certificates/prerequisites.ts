import type { Reader } from '../../../core/db/transaction'
import { Problem } from '../../../core/problem'
import { isPermitted, type CaaIssuer } from '../../../dns/caa'
import { caaOf, challengePlace, type ChallengePlace } from '../../dns/challenges/challenges'
import { baseName } from './names'

/** Where the TXT records for each name belong, by the name without its wildcard. @throws Problem 409 `no_managed_zone`, `zone_not_writable` */
export async function placesOf(
  read: Reader,
  workspaceId: string,
  names: readonly string[],
): Promise<Map<string, ChallengePlace>> {
  const places = new Map<string, ChallengePlace>()
  for (const name of new Set(names.map(baseName))) {
    const place = await challengePlace(read, workspaceId, name)
    if ('code' in place) throw new Problem(place.code, place.detail)
    places.set(name, place)
  }
  return places
}

/** Refuses names for which CAA records in the zones of the workspace don’t permit the authority. @throws Problem 409 `caa_forbids` */
export async function refuseByCaa(read: Reader, workspaceId: string, names: readonly string[], issuer: CaaIssuer): Promise<void> {
  // Some authorities don’t return their names.
  if (issuer.identities.length === 0) return
  for (const name of names) {
    const found = await caaOf(read, workspaceId, baseName(name))
    if (found && !isPermitted(found.properties, name !== baseName(name), issuer))
      throw new Problem(
        'caa_forbids',
        `The CAA records of ${found.at} don’t permit this certificate authority to issue for ${name}. Add a record such as \`0 issue "${issuer.identities[0]}"\`.`,
      )
  }
}
