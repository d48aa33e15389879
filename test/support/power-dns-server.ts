import { Database } from 'bun:sqlite'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ProviderRrset } from '../../src/features/dns/providers/provider'
import { rrsetsOfText } from './zone-rrsets'
import { freePort } from './free-port'

/** A local PowerDNS Authoritative Server with its own database. */
export interface PowerDnsServer {
  /** URL of its HTTP API. */
  url: string
  apiKey: string
  /** Of DNS queries. */
  dnsPort: number
  /** Runs `pdnsutil` on its database, like an administrator. @returns its output */
  util(...words: string[]): Promise<string>
  /** Transfers a zone with `dig`, without the SOA. */
  transferred(zone: string): Promise<ProviderRrset[]>
  stop(): Promise<void>
}

const schema = '/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql'
const path = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }
const tries = 3

/** Starts one on free ports. */
export async function startPowerDns(): Promise<PowerDnsServer> {
  for (let at = 1; ; at++) {
    try {
      return await started()
    } catch (error) {
      // Another process may have taken the port meanwhile.
      if (at === tries) throw error
    }
  }
}

async function started(): Promise<PowerDnsServer> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-pdns-'))
  const database = new Database(join(folder, 'pdns.sqlite3'), { create: true })
  database.exec(readFileSync(schema, 'utf8'))
  database.close()
  const [dnsPort, httpPort] = [await freePort(), await freePort()]
  const apiKey = 'key-of-the-real-one'
  writeFileSync(join(folder, 'pdns.conf'), configuration(folder, dnsPort, httpPort, apiKey))
  const run = Bun.spawn(['/usr/sbin/pdns_server', `--config-dir=${folder}`, '--guardian=no', '--daemon=no'], {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const output = Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()])
  const stop = async () => {
    run.kill('SIGKILL')
    await run.exited
    rmSync(folder, { recursive: true, force: true })
  }
  const url = `http://127.0.0.1:${httpPort}`
  for (let at = 0; at < 200 && run.exitCode === null; at++) {
    if (await answers(`${url}/api/v1/servers/localhost`, apiKey))
      return {
        url,
        apiKey,
        stop,
        dnsPort,
        util: (...words) => printed(['pdnsutil', `--config-dir=${folder}`, ...words]),
        transferred: zone => transferred(zone, dnsPort),
      }
    await Bun.sleep(50)
  }
  await stop()
  throw new Error(`PowerDNS did not answer: ${(await output).join('\n')}`)
}

const configuration = (folder: string, dnsPort: number, httpPort: number, apiKey: string): string => `launch=gsqlite3
gsqlite3-database=${folder}/pdns.sqlite3
gsqlite3-dnssec=yes
gsqlite3-pragma-synchronous=0
local-address=127.0.0.1
local-port=${dnsPort}
socket-dir=${folder}
api=yes
api-key=${apiKey}
webserver=yes
webserver-address=127.0.0.1
webserver-port=${httpPort}
webserver-allow-from=127.0.0.1
allow-axfr-ips=127.0.0.0/8
zone-cache-refresh-interval=0
cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
security-poll-suffix=
loglevel=3
`

async function answers(url: string, apiKey: string): Promise<boolean> {
  try {
    return (await fetch(url, { headers: { 'x-api-key': apiKey } })).ok
  } catch {
    return false
  }
}

async function transferred(zone: string, port: number): Promise<ProviderRrset[]> {
  const text = await printed(['dig', '@127.0.0.1', '-p', String(port), '+noall', '+answer', '+onesoa', '+nosplit', zone, 'AXFR'])
  return rrsetsOfText(text, zone)
}

async function printed(command: string[]): Promise<string> {
  const run = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe', env: { ...process.env, ...path } })
  const [out, problem] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()])
  if ((await run.exited) !== 0) throw new Error(`${command.join(' ')}: ${problem}${out}`)
  return out
}
