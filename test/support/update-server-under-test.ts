import { rfc2136 } from '../../src/features/dns/providers/rfc2136'
import { absoluteOf } from '../../src/features/dns/zones/names'
import type { HubUnderTest } from './hub-zone'
import { startUpdatableBind, startUpdatableKnot } from './update-servers'
import { rrsetsOfText } from './zone-rrsets'

export const updateServers = { BIND: startUpdatableBind, Knot: startUpdatableKnot }

export const updateKey = { name: 'bailiwick', algorithm: 'hmac-sha256', secret: Buffer.alloc(32, 5).toString('base64') }
const updateSignature = `${updateKey.algorithm}:${updateKey.name}:${updateKey.secret}`

// One per test.
const names = Array.from({ length: 80 }, (_, n) => `z${n}.test`)
const emptyZone = '$TTL 3600\n@ SOA ns1.example.net. hostmaster 1 3600 600 86400 300\n@ NS ns1.example.net.\n'

/** A local BIND or Knot, for the provider suites. */
export async function updateServerUnderTest(
  which: keyof typeof updateServers,
): Promise<HubUnderTest & { port: number; names: string[] }> {
  const server = await updateServers[which](names, emptyZone, { key: updateKey })
  let used = 0
  return {
    kind: rfc2136.kind,
    settings: { host: '127.0.0.1', port: server.port, key_name: updateKey.name, key_secret: updateKey.secret, zones: names },
    caps: rfc2136.caps,
    checksTime: true,
    port: server.port,
    names,
    makeZone: async () => names[used++]!,
    look: async name => rrsetsOfText(await digOutput(server.port, name), name),
    async changeExternally(name, below, type, ttl, values) {
      const owner = absoluteOf(below, name)
      const added = values?.map(one => `update add ${owner} ${ttl} ${type} ${one}`) ?? []
      await nsupdate(server.port, name, `update delete ${owner} ${type}`, ...added)
    },
    stop: () => server.stop(),
  }
}

/** Transfers the records of a zone with `dig`. @param signature `algorithm:name:secret` of a key */
export async function digOutput(port: number, name: string, signature = updateSignature): Promise<string> {
  const args = ['@127.0.0.1', '-p', String(port), '-y', signature, name, 'AXFR']
  const run = Bun.spawn(['dig', '+noall', '+answer', '+onesoa', ...args], { stdout: 'pipe' })
  return await new Response(run.stdout).text()
}

/** Changes a zone with `nsupdate`. @param lines such as `update add www.z0.test. 300 A 192.0.2.1` */
export async function nsupdate(port: number, zone: string, ...lines: string[]): Promise<void> {
  const run = Bun.spawn(['nsupdate', '-y', updateSignature], { stdin: 'pipe', stderr: 'pipe' })
  run.stdin.write([`server 127.0.0.1 ${port}`, `zone ${zone}`, ...lines, 'send', ''].join('\n'))
  await run.stdin.end()
  const output = await new Response(run.stderr).text()
  if ((await run.exited) !== 0 || output !== '') throw new Error(`nsupdate of ${zone}: ${output}`)
}
