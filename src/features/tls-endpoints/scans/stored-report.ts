import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { StoredReport } from '../grades/report'

const unpack = promisify(gunzip)

/** Maximum size of a report before compression. Reports of ordinary servers have less than 50 kB. */
const maxBytes = 512 * 1024

/** A report as it is stored: most of it are names of suites. Of reports that are too large, details are left out. */
export const packed = (report: StoredReport): Uint8Array => Bun.gzipSync(boundedJson(report), { library: 'libdeflate' })

export const unpacked = async (bytes: Uint8Array): Promise<StoredReport> =>
  JSON.parse((await unpack(bytes)).toString()) as StoredReport

function boundedJson(report: StoredReport): string {
  let smaller = report
  let json = JSON.stringify(smaller)
  for (const reduce of reductions) {
    if (Buffer.byteLength(json) <= maxBytes) break
    smaller = { ...smaller, addresses: smaller.addresses.map(reduce) }
    json = JSON.stringify(smaller)
  }
  return json
}

type Address = StoredReport['addresses'][number]

/** Leave out details, the least important first: issuers, further chains, all chains and names of suites. */
const reductions: readonly ((address: Address) => Address)[] = [
  one => ({ ...one, chains: one.chains.map(chain => ({ ...chain, sent: chain.sent.slice(0, 1), path: [] })) }),
  one => ({ ...one, chains: one.chains.slice(0, 1) }),
  one => ({ ...one, chains: [], versions: one.versions.map(version => ({ ...version, suites: [] })) }),
]
