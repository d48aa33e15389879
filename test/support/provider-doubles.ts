import { writeFileSync } from 'node:fs'
import { CloudflareDouble } from './cloudflare'
import { DesecDouble } from './desec'
import { DigitalOceanDouble } from './digitalocean'
import { HetznerDouble } from './hetzner'

/** A zone at a simulated provider, as `bailiwick bench provider-apply` expects it. */
interface Account {
  kind: string
  zone: string
  settings: object
}

const zone = 'example.com'

/** Starts the simulated providers with one zone each, without rate limits. */
export async function providerDoubles(): Promise<{ accounts: Account[]; stop(): void }> {
  const [cloudflare, hetzner, digitalOcean, desec] = await Promise.all([
    new CloudflareDouble().start(),
    new HetznerDouble().start(),
    new DigitalOceanDouble().start(),
    new DesecDouble().start(),
  ])
  cloudflare.zone(zone, 'pro')
  hetzner.zone(zone)
  digitalOcean.domain(zone)
  desec.domain(zone)
  // Otherwise, each change waits at least 300 ms.
  hetzner.finishesAtOnce = true
  return {
    accounts: [
      { kind: 'cloudflare', zone, settings: { api_token: cloudflare.token, base_url: cloudflare.url } },
      { kind: 'hetzner', zone, settings: { api_token: hetzner.token, base_url: hetzner.url } },
      { kind: 'digitalocean', zone, settings: { api_token: digitalOcean.token, base_url: digitalOcean.url } },
      { kind: 'desec', zone, settings: { api_token: desec.token, base_url: desec.url } },
    ],
    stop() {
      for (const one of [cloudflare, hetzner, digitalOcean, desec]) one.stop()
    },
  }
}

// `bun test/support/provider-doubles.ts accounts.json` runs them until it is stopped.
if (import.meta.main) {
  const file = process.argv[2] ?? 'accounts.json'
  writeFileSync(file, JSON.stringify((await providerDoubles()).accounts, null, 2))
  process.stdout.write(`bailiwick bench provider-apply --accounts ${file}\n`)
}
