import { writeFileSync } from 'node:fs'
import { CloudflareDouble } from './cloudflare'
import { DesecDouble } from './desec'
import { DigitalOceanDouble } from './digitalocean'
import { HetznerDouble } from './hetzner'
import { Route53Double } from './route53'

/** A zone at a simulated provider, as `bailiwick bench provider-apply` expects it. */
interface Account {
  kind: string
  zone: string
  settings: object
}

const zone = 'example.com'

/** Starts the simulated providers with one zone each. @param isHasty changes at Hetzner are finished at once, as they never are */
export async function providerDoubles(isHasty = false): Promise<{ accounts: Account[]; stop(): void }> {
  const cloudflare = new CloudflareDouble()
  const route53 = new Route53Double()
  const hetzner = new HetznerDouble()
  const digitalocean = new DigitalOceanDouble()
  const desec = new DesecDouble()
  const doubles = [cloudflare, route53, hetzner, digitalocean, desec]
  for (const one of doubles) await one.start()
  hetzner.finishesAtOnce = isHasty
  cloudflare.zone(zone, 'pro')
  for (const one of [route53, hetzner]) one.zone(zone)
  for (const one of [digitalocean, desec]) one.domain(zone)
  const withToken = ({ token, url }: { token: string; url: string }) => ({ api_token: token, base_url: url })
  const { accessKeyId: access_key_id, secretAccessKey: secret_access_key, url: base_url } = route53
  return {
    accounts: [
      { kind: 'cloudflare', zone, settings: withToken(cloudflare) },
      { kind: 'route53', zone, settings: { access_key_id, secret_access_key, base_url } },
      { kind: 'hetzner', zone, settings: withToken(hetzner) },
      { kind: 'digitalocean', zone, settings: withToken(digitalocean) },
      { kind: 'desec', zone, settings: withToken(desec) },
    ],
    stop() {
      for (const one of doubles) one.stop()
    },
  }
}

// `bun test/support/provider-doubles.ts accounts.json` runs them until it is stopped.
if (import.meta.main) {
  const file = process.argv[2] ?? 'accounts.json'
  writeFileSync(file, JSON.stringify((await providerDoubles()).accounts, null, 2))
  process.stdout.write(`bailiwick bench provider-apply --accounts ${file}\n`)
}
