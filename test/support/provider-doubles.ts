import { writeFileSync } from 'node:fs'
import { CloudflareDouble } from './cloudflare'
import { DesecDouble } from './desec'

/** A zone at a simulated provider, as `bailiwick bench provider-apply` expects it. */
interface Account {
  kind: string
  zone: string
  settings: object
}

const zone = 'example.com'

/** Starts the simulated providers with one zone each, without rate limits. */
export async function providerDoubles(): Promise<{ accounts: Account[]; stop(): void }> {
  const [cloudflare, desec] = await Promise.all([new CloudflareDouble().start(), new DesecDouble().start()])
  cloudflare.zone(zone, 'pro')
  desec.domain(zone)
  return {
    accounts: [
      { kind: 'cloudflare', zone, settings: { api_token: cloudflare.token, base_url: cloudflare.url } },
      { kind: 'desec', zone, settings: { api_token: desec.token, base_url: desec.url } },
    ],
    stop() {
      for (const one of [cloudflare, desec]) one.stop()
    },
  }
}

// `bun test/support/provider-doubles.ts accounts.json` runs them until it is stopped.
if (import.meta.main) {
  const file = process.argv[2] ?? 'accounts.json'
  writeFileSync(file, JSON.stringify((await providerDoubles()).accounts, null, 2))
  process.stdout.write(`bailiwick bench provider-apply --accounts ${file}\n`)
}
