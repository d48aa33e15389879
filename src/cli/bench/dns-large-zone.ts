import type { Figure } from './bench'
import { removeZone } from './dns-fill'
import type { InProcessApi } from './in-process-api'

// A request can change at most 10,000 records.
const recordsPerFile = 9_990
const plannedEdits = 1000

/** Imports a large zone, plans edits of it, and compares its first version with the last, all with the API. */
export async function zoneFigures(api: InProcessApi, records: number): Promise<Figure[]> {
  const { id } = await api.call('POST', '/v1/dns/zones', { name: `work-${crypto.randomUUID().slice(0, 8)}.test` })
  try {
    const imported = await timed(async () => {
      const head = '@ 300 IN SOA ns1 hostmaster 1 7200 3600 1209600 300\n@ 300 IN NS ns1\nns1 300 IN A 127.0.0.1\n'
      for (let at = 0; at < records; at += recordsPerFile) {
        const lines = Array.from(
          { length: Math.min(recordsPerFile, records - at) },
          (_, n) => `h${at + n} 300 IN A ${address(at + n)}\n`,
        )
        await api.call(
          'POST',
          `/v1/dns/zones/${id}/import?mode=${at === 0 ? 'replace' : 'merge'}`,
          (at === 0 ? head : '') + lines.join(''),
        )
      }
    })
    const rrsets = Array.from({ length: Math.min(plannedEdits, records) }, (_, n) => ({
      name: `h${n}`,
      type: 'A',
      records: [{ content: address(n + 1) }],
    }))
    const plan = await timed(() => api.call('POST', `/v1/dns/zones/${id}/plan`, { rrsets }))
    const { version } = await api.call('GET', `/v1/dns/zones/${id}`)
    const diff = await timed(() => api.call('GET', `/v1/dns/zones/${id}/diff?from=1&to=${version}`))
    return [
      { name: `import of ${records} records`, value: imported / 1000, unit: 's' },
      { name: `plan of ${rrsets.length} edits`, value: plan, unit: 'ms' },
      { name: `diff of ${records} records`, value: diff, unit: 'ms' },
    ]
  } finally {
    await removeZone(api.hub, id)
  }
}

const address = (n: number): string => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`

/** @returns milliseconds */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
