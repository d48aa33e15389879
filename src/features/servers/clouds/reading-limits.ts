import { flatMapInTurns } from '../../../core/time-slices'
import { CloudError, type CloudServer } from './cloud'

/** Maximum number of servers in a reading. */
export const maxServers = 20_000
/** Maximum length of what is known of a server, as JSON. Real ones have about 1,000 characters. */
const maxServerLength = 64 * 1024

/** @throws CloudError `refused` if a cloud lists more servers than could be processed */
export function refuseTooMany(count: number): void {
  if (count > maxServers)
    throw new CloudError('refused', `The cloud lists ${count} servers. The limit is ${maxServers}.`, null, false)
}

/**
 * Validates the servers of a reading before anything is stored.
 * @throws CloudError `refused` for too many, `invalid_response` if one of them is longer than any real server
 */
export async function withinLimits(servers: readonly CloudServer[]): Promise<CloudServer[]> {
  refuseTooMany(servers.length)
  return await flatMapInTurns(servers, one => {
    if (JSON.stringify(one).length > maxServerLength)
      throw new CloudError(
        'invalid_response',
        `The response has a server whose names, labels, and addresses are longer than ${maxServerLength / 1024} KiB.`,
      )
    return [one]
  })
}
