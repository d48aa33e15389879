import { expect, test } from 'bun:test'
import { clientConfigs } from '.'
import type { ConfiguredSource } from './client-config'

const source: ConfiguredSource = {
  hubUrl: 'https://hub.example.com:8484',
  families: ['ipv4', 'ipv6'],
  hosts: [
    { name: '*.home.example.com', mode: 'address' },
    { name: 'home.example.com', mode: 'address' },
    { name: 'nas.example.com', mode: 'prefix' },
  ],
}
const config = (client: string, more: Partial<ConfiguredSource> = {}) =>
  clientConfigs({ ...source, ...more }).find(one => one.client === client)!
const file = (client: string, at = 0, more: Partial<ConfiguredSource> = {}) => config(client, more).files[at]!.content

test('each client has a configuration with the URL of the hub, a host, the token, and steps', () => {
  const all = clientConfigs(source)
  expect(all.map(one => one.client)).toEqual([
    'fritzbox',
    'unifi',
    'opnsense',
    'pfsense',
    'openwrt',
    'routeros',
    'synology',
    'ddclient3',
    'ddclient4',
    'inadyn',
    'curl-cron',
    'curl-systemd',
  ])
  for (const { client, files, steps } of all) {
    const text = files.map(one => one.content).join('\n')
    for (const part of ['hub.example.com:8484', 'home.example.com', '{{TOKEN}}'])
      expect([client, text]).toEqual([client, expect.stringContaining(part)])
    expect(steps.length).toBeGreaterThan(1)
  }
})

test('the FRITZ!Box reports both families and its prefix, and the name is a host with its address', () => {
  expect(file('fritzbox')).toBe(
    'https://hub.example.com:8484/nic/update?hostname=<domain>&myip=<ipaddr> https://hub.example.com:8484/nic/update?hostname=<domain>&myipv6=<ip6addr>&ip6lanprefix=<ip6lanprefix>',
  )
  expect(file('fritzbox', 1)).toBe('home.example.com')
  expect(config('fritzbox').notes).toContain(
    'The same report also updates the other hosts of this source: *.home.example.com, nas.example.com.',
  )
})

test('OPNsense reports each family with an account of its own', () => {
  const text = (families: ConfiguredSource['families']) => {
    const { steps, notes } = config('opnsense', { families })
    return [steps.at(-1), notes.join(' ').includes('second account')]
  }
  const ipv6 = 'Set “Check ip method” to “Interface [IPv6]”, select the WAN interface, and enable “Force SSL”.'
  expect(text(['ipv6'])).toEqual([ipv6, false])
  expect(text(['ipv4', 'ipv6'])).toEqual([ipv6.replace('IPv6', 'IPv4'), true])
})

test('ddclient', () => {
  expect(file('ddclient3').split('\n')).toEqual([
    'daemon=300',
    'ssl=yes',
    'use=web, web=https://hub.example.com:8484/checkip',
    'protocol=dyndns2',
    'server=hub.example.com:8484',
    'script=/nic/update',
    'login=any',
    "password='{{TOKEN}}'",
    '*.home.example.com,home.example.com',
    '',
  ])
  expect(file('ddclient4')).toContain(
    'usev4=webv4, webv4=https://hub.example.com:8484/checkip\nusev6=webv6, webv6=https://hub.example.com:8484/checkip\n',
  )
})

test('only the families of the source are reported', () => {
  for (const client of ['fritzbox', 'openwrt', 'ddclient4', 'inadyn', 'curl-cron', 'curl-systemd']) {
    const text = (families: ConfiguredSource['families']) =>
      config(client, { families })
        .files.map(one => one.content.replaceAll('ipv4.', ''))
        .join('\n')
    expect([client, text(['ipv4'])]).not.toEqual([client, text(['ipv6'])])
    expect([client, text(['ipv4', 'ipv6']).length > text(['ipv4']).length]).toEqual([client, true])
  }
})

test('a hub without HTTPS is noted, and a source without hosts has an example', () => {
  const plain = { hubUrl: 'http://localhost:8484', hosts: [] }
  expect(file('ddclient3', 0, plain)).toContain('ssl=no\n')
  expect(config('ddclient3', plain).notes.join(' ')).toContain('only accepts a server name that contains a dot')
  for (const one of clientConfigs({ ...source, ...plain })) {
    expect([one.client, one.notes.join(' ')]).toEqual([one.client, expect.stringMatching(/plain HTTP|HTTPS/)])
    expect(one.files.map(each => each.content).join('\n')).toContain('home.example.com')
  }
})
