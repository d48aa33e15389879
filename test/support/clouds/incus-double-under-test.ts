import { readFileSync } from 'node:fs'
import { incus } from '../../../src/features/servers/clouds/incus/incus'
import type { ApiFault, ApiRequest } from '../api-double'
import { pluginContext } from '../plugin-context'
import type { CloudUnderTest } from './cloud-contract'
import { errorBody, type IncusDouble } from './incus-double'

const fixture = (name: string) => readFileSync(`test/fixtures/tls/${name}`, 'utf8')

export function incusDoubleUnderTest(double: IncusDouble): CloudUnderTest {
  const around = pluginContext()
  const settings = { url: double.base, client_certificate: fixture('client.pem'), client_key: fixture('client.key') }
  const byRef = (ref: string) => double.instances.find(one => one.config['volatile.uuid'] === ref)!
  const onChange = (fault: ApiFault) => (request: ApiRequest) => (request.method === 'GET' ? null : fault)
  const size = { cores: 1, memoryBytes: 128 * 2 ** 20, diskBytes: 2 ** 30 }
  return {
    kind: incus,
    cloud: incus.open(settings, around),
    reopen: () => incus.open(settings, around),
    unauthorized: incus.open({ ...settings, url: `${double.base}/untrusted` }, around),
    unreachable: incus.open({ ...settings, url: 'http://127.0.0.1:9' }, around),
    secrets: [settings.client_key.trim()],
    offer: {
      location: null,
      size,
      image: 'one',
      sshKeys: [],
      otherSize: { cores: 2, memoryBytes: 256 * 2 ** 20, diskBytes: 2 * 2 ** 30 },
      otherImage: 'two',
    },
    lacks: [],
    names: { refused: ['', '-web', 'web-', 'web_1', 'w'.repeat(64)], accepted: ['w', 'w'.repeat(63)] },
    pause: async () => {},
    outside: {
      create: async name => double.create(name).config['volatile.uuid']!,
      async rename(ref, name) {
        byRef(ref).name = name
        return ref
      },
      remove: async ref => double.remove(byRef(ref)),
    },
    firewalls: {
      async empty(id) {
        for (const acl of double.acls.values()) if (acl.config['user.bailiwick.firewall'] === id) acl.ingress = []
      },
    },
    trouble: {
      respond: raw => (double.fault = () => ({ raw })),
      errorWithStatus200: JSON.stringify(errorBody(500, 'Failed to load the database')),
      // Only proxies limit the rate.
      throttle: seconds =>
        (double.fault = () => ({ raw: { status: 429, body: 'Too many requests', headers: { 'retry-after': `${seconds}` } } })),
      forbid: () => (double.fault = onChange({ status: 500, code: 'User does not have permissions for project "default"' })),
      lock: () =>
        (double.fault = onChange({
          status: 500,
          code: 'Failed to create instance update operation: Instance is busy running a "stop" operation',
        })),
      lose: () => (double.fault = onChange('lost')),
      drop: () => (double.fault = onChange('dropped')),
      shorten: () => (double.fault = request => (request.path === '/instances' ? 'cut' : null)),
      bloat: ref => (byRef(ref).config['user.bailiwick.label.long'] = 'x'.repeat(5_000_000)),
      exaggerate: ref => {
        const { config, devices } = byRef(ref)
        Object.assign(config, { 'limits.cpu': '9'.repeat(300), 'limits.memory': `${'9'.repeat(300)}GiB` })
        devices.root = { type: 'disk', path: '/', pool: 'default', size: `${'9'.repeat(300)}GiB` }
      },
      forget: () => (double.operations = []),
      fail: () => (double.failure = 'Failed to run: incusd forkstart: exit status 1'),
      oddStatus: ref => (byRef(ref).status = 'Hibernated'),
      calm() {
        double.fault = () => null
        double.failure = null
        for (const one of double.instances) {
          if (one.status === 'Hibernated') one.status = 'Stopped'
          delete one.config['user.bailiwick.label.long']
        }
      },
    },
    stop() {},
  }
}
