import { hetzner } from '../../../src/features/servers/clouds/hetzner/hetzner'
import type { AdapterContext, Cloud } from '../../../src/features/servers/clouds/cloud'
import type { ApiFault, ApiRequest } from '../api-double'
import { pluginContext } from '../plugin-context'
import type { CloudUnderTest } from './cloud-contract'
import { createSshKey } from './hetzner-catalog-routes'
import type { HetznerCloudDouble } from './hetzner-cloud'
import { isAllowed } from './hetzner-firewalls'

export const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPbkb5oEVVE1dL0j2FbZVJbGOC9JjzLMDvCbHO0wR2mX test'

/** Opens the account of a double. */
export const opened = (double: HetznerCloudDouble, more: object = {}, around: Partial<AdapterContext> = {}): Cloud =>
  hetzner.open({ api_token: double.token, base_url: double.url, ...more }, { ...pluginContext(), clock: double.clock, ...around })

/** The first server again, with an id of its own. */
function rowOfPage(server: any, page: number): object {
  if (server) sample = server
  return { ...sample, id: 1e6 + page }
}
let sample: object = {}

const withPages = (one: any, pagination: object) =>
  one.servers ? { ...one, meta: { pagination: { ...one.meta.pagination, ...pagination } } } : one

const withServer = (one: any, ref: string, change: (server: any) => object) =>
  one.servers ? { ...one, servers: one.servers.map((row: any) => (String(row.id) === ref ? change(row) : row)) } : one

/** The double of Hetzner Cloud, for the contract suite. */
export function hetznerUnderTest(double: HetznerCloudDouble): CloudUnderTest {
  const { project } = double
  const key = { name: 'test', publicKey }
  createSshKey(project, { name: key.name, public_key: publicKey })
  const serverOf = (ref: string) => project.servers.get(Number(ref))!
  const changing = (fault: ApiFault) => (request: ApiRequest) => (request.method === 'GET' ? null : fault)
  return {
    kind: hetzner,
    cloud: opened(double),
    reopen: () => opened(double),
    unauthorized: opened(double, { api_token: 'w'.repeat(64) }),
    unreachable: opened(double, { base_url: 'http://127.0.0.1:1/v1' }),
    secrets: [double.token],
    offer: {
      ...{ location: 'fsn1', size: { slug: 'cx22' }, image: 'debian-12', sshKeys: [key] },
      ...{ otherSize: { slug: 'cx32' }, otherImage: 'ubuntu-24.04' },
    },
    lacks: [],
    names: { refused: ['', 'under_score', '-web', 'web-', 'a b', 'ä', 'a..b'], accepted: ['web-1.example.com', 'Web', '1'] },
    pause: async () => await Bun.sleep(1),
    outside: {
      create: async name => String(double.addServer({ name }).id),
      async rename(ref, name) {
        double.console.rename(serverOf(ref), name)
        return ref
      },
      remove: async ref => double.console.delete(serverOf(ref)),
    },
    firewalls: {
      isAllowed: (ref, packet) => isAllowed(project, serverOf(ref), packet),
      async empty(id) {
        for (const one of project.firewalls.values()) if (one.labels.bailiwick === id) one.rules = []
      },
    },
    trouble: {
      respond: raw => (double.fault = () => ({ raw })),
      throttle: seconds => {
        const headers = { 'retry-after': String(seconds) }
        const body = JSON.stringify({
          error: { code: 'rate_limit_exceeded', message: 'limit of 3600 requests per hour reached' },
        })
        double.fault = () => ({ raw: { status: 429, body, headers } })
      },
      forbid: () => (double.fault = changing({ status: 403, code: 'forbidden', message: 'insufficient permissions' })),
      lock: () => (double.fault = changing({ status: 423, code: 'locked', message: 'server is locked' })),
      lose: () => (double.fault = changing('lost')),
      drop: () => (double.fault = changing('dropped')),
      shorten: () => (double.answered = one => (one.servers ? { ...one, servers: one.servers.slice(1) } : one)),
      miscount: () =>
        (double.answered = one =>
          one.servers
            ? { ...one, meta: { pagination: { ...one.meta.pagination, total_entries: one.servers.length + 1 } } }
            : one),
      endless: {
        'too many rows': () => (double.answered = one => withPages(one, { total_entries: 1e9, last_page: 2e7 })),
        'the same page': () => (double.answered = one => withPages(one, { page: 1, total_entries: 500, last_page: 10 })),
        'a new row on every page': () =>
          (double.answered = (one, { query }) =>
            withPages(one.servers ? { ...one, servers: [rowOfPage(one.servers[0], Number(query.get('page')))] } : one, {
              ...{ page: Number(query.get('page')), per_page: 1, total_entries: 20_000, last_page: 20_000 },
            })),
      },
      bloat: ref =>
        (double.answered = one => withServer(one, ref, server => ({ ...server, labels: { long: 'x'.repeat(5_000_000) } }))),
      exaggerate: ref =>
        (double.answered = one =>
          withServer(one, ref, server => ({
            ...server,
            primary_disk_size: 1e300,
            server_type: { ...server.server_type, cores: 1e300, memory: 1e300, disk: 1e300 },
          }))),
      forget: () => project.actions.clear(),
      fail: () => (project.actionErrors = { start_server: { code: 'action_failed', message: 'no answer from the host' } }),
      oddStatus(ref) {
        const shown = (one: any) => (String(one.id) === ref ? { ...one, status: 'hibernating' } : one)
        double.answered = one => ({
          ...one,
          ...(one.server && { server: shown(one.server) }),
          ...(one.servers && { servers: one.servers.map(shown) }),
        })
        return 'hibernating'
      },
      calm() {
        double.fault = () => null
        double.answered = one => one
        double.remaining = 3600
        project.actionErrors = {}
      },
    },
    stop: () => double.stop(),
  }
}
