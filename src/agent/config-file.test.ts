import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { inTempFolder } from '../../test/support/command'
import { changeConfigFile, InvalidConfigFile, parseConfigFile, readConfigFile } from './config-file'

const hubKey = 'ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'
const pin = 'ab'.repeat(32)
const install = 'install.web = certificate=/etc/web.pem key=/etc/web.key reload=none'

test('all settings are read', () => {
  const text = [
    '# Written by the installer.',
    'hub = https://hub.example.com/',
    `hub_key=${hubKey}`,
    `  pin = sha256:${pin.toUpperCase().replace(/..(?=.)/g, '$&:')}  # of the hub`,
    '',
    'allow = reboot, restart:nginx.service',
    'root = /host/',
    'state_folder = /srv/state',
    'runtime_folder = /run/x',
    'containers = yes',
    'process_arguments = yes',
    'certificates = /srv/*/cert.pem, /opt/app/tls.crt',
    'install.web = certificate=/etc/nginx/tls/web.pem key=/etc/nginx/tls/web.key owner=root:www-data mode=0640 reload=nginx.service',
    'install.ha = certificate=/etc/haproxy/web.pem key=/etc/haproxy/web.pem restart=haproxy.service # both in one file',
  ].join('\r\n')
  expect(parseConfigFile(text)).toEqual({
    hub: 'https://hub.example.com',
    hubKey,
    pin,
    allow: ['collect', 'reboot', 'restart:nginx.service', 'certificates:web', 'certificates:ha'],
    root: '/host',
    stateFolder: '/srv/state',
    runtimeFolder: '/run/x',
    containers: true,
    processArguments: true,
    certificates: ['/srv/*/cert.pem', '/opt/app/tls.crt', '/etc/nginx/tls/web.pem', '/etc/haproxy/web.pem'],
    installProfiles: new Map([
      [
        'web',
        {
          ...{
            certificate: '/etc/nginx/tls/web.pem',
            key: '/etc/nginx/tls/web.key',
            user: 'root',
            group: 'www-data',
            mode: 0o640,
          },
          load: { verb: 'reload', unit: 'nginx.service' },
        },
      ],
      [
        'ha',
        {
          ...{ certificate: '/etc/haproxy/web.pem', key: '/etc/haproxy/web.pem', user: 'root', group: 'root', mode: 0o600 },
          load: { verb: 'restart', unit: 'haproxy.service' },
        },
      ],
    ]),
  })
})

test('without the other settings, an agent may only collect', () => {
  expect(parseConfigFile('hub = http://10.0.0.2:8484')).toEqual({
    hub: 'http://10.0.0.2:8484',
    hubKey: null,
    pin: null,
    allow: ['collect'],
    root: '/',
    stateFolder: '/var/lib/bailiwick-agent',
    runtimeFolder: '/run/bailiwick-agent',
    containers: false,
    processArguments: false,
    certificates: [],
    installProfiles: new Map(),
  })
  expect(parseConfigFile('hub = http://10.0.0.2\ncertificates = no').certificates).toBeNull()
})

test.each([
  ['', /^a\.conf does not contain the address of the hub/],
  ['hub = https://h\nhub', /^a\.conf line 2: “hub” is not in the form/],
  ['hub = https://h\n\nshell = yes', /^a\.conf line 3: “shell” is not a setting\. Settings are hub, hub_key, /],
  ['constructor = x', /^a\.conf line 1: “constructor” is not a setting/],
  ['hub = https://h\nhub = https://h', /^a\.conf line 2: hub is set twice/],
  ['hub = hub.example.com', /^a\.conf line 1: hub must start with https:\/\/ or http:\/\/, but is “hub\.example\.com”/],
  ['hub = ftp://hub.example.com', /^a\.conf line 1: hub must start with/],
  ['hub = https://', /^a\.conf line 1: hub is not a URL/],
  ['hub = https://a:b@h', /^a\.conf line 1: hub must have no path, query, or password/],
  ['hub = https://h/path', /^a\.conf line 1: hub must have no path/],
  ['hub = https://h\nhub_key = ed25519:AAAA', /^a\.conf line 2: hub_key must be “ed25519:” and 43 characters/],
  ['hub = https://h\npin = sha256:12', /^a\.conf line 2: pin must be “sha256:” and 64 hexadecimal digits/],
  [`hub = http://h\npin = ${pin}`, /^a\.conf: pin requires a hub whose address starts with https/],
  ['hub = https://h\nallow = reboot shell', /^a\.conf line 2: allow contains “shell”, which is not a permission/],
  ['hub = https://h\ncontainers = docker', /^a\.conf line 2: containers must be yes or no, not “docker”/],
  [
    'hub = https://h\ncertificates = cert.pem',
    /^a\.conf line 2: certificates must be no, or paths of files such as .*“cert\.pem” is not one/,
  ],
  ['hub = https://h\ncertificates = /srv/../cert.pem', /^a\.conf line 2: certificates must be no/],
  ['hub = https://h\ncertificates =', /^a\.conf line 2: certificates must be no/],
  [`hub = https://h\ncertificates = ${'/a '.repeat(51)}`, /^a\.conf line 2: certificates has more than 50 paths/],
  ['hub = https://h\nroot = host', /^a\.conf line 2: root must be an absolute path, not “host”/],
  [
    'hub = https://h\nallow = certificates:web',
    /^a\.conf line 2: allow contains “certificates:web”, .+ add an install\.NAME line\.$/,
  ],
  ['hub = https://h\ninstall.Web = x', /^a\.conf line 2: install\.Web must end with a name of lower-case letters/],
  [`hub = https://h\n${install}\n${install}`, /^a\.conf line 3: install\.web is set twice/],
  [
    'hub = https://h\ninstall.web = /etc/web.pem',
    /^a\.conf line 2: install\.web must be in the form certificate=.*“\/etc\/web\.pem” is not/,
  ],
  [`hub = https://h\n${install} script=/bin/sh`, /“script=\/bin\/sh” is not expected/],
  [
    `hub = https://h\n${install.replace('/etc/web.pem', '/etc/../root/web.pem')}`,
    /must have a path below \/etc, .* as certificate, not/,
  ],
  [`hub = https://h\n${install.replace('/etc/web.key', '/usr/bin/web')}`, /must have a path below \/etc, .* as key, not “\/usr/],
  [`hub = https://h\n${install.replace(' key=/etc/web.key', '')}`, /must have a path below \/etc, .* as key, not “”/],
  [`hub = https://h\n${install} owner=www-data`, /must have an owner such as root:www-data, not “www-data”/],
  [`hub = https://h\n${install} mode=0644`, /must have the mode 0600 or 0640, not “0644”/],
  [`hub = https://h\n${install} restart=nginx.service`, /must have either reload or restart/],
  [`hub = https://h\n${install.replace('none', '--force')}`, /must have a unit of systemd such as nginx\.service, not “--force”/],
  [`hub = https://h\nallow = ${'x'.repeat(100)}`, /^a\.conf line 2: allow contains “x{60}…”/],
])('%j is refused with one sentence', (text, message) => {
  expect(() => parseConfigFile(text, 'a.conf')).toThrow(InvalidConfigFile)
  expect(() => parseConfigFile(text, 'a.conf')).toThrow(message)
})

test('no more permissions than a report may have', () => {
  const allow = Array.from({ length: 50 }, (_, number) => `restart:unit-${number}`)
  expect(() => parseConfigFile(`hub = https://h\nallow = ${allow.join(',')}`)).toThrow('allow has more than 50 permissions.')
  const most = `hub = https://h\nallow = ${allow.slice(1).join(',')}`
  expect(parseConfigFile(most).allow).toHaveLength(50)
  expect(() => parseConfigFile(`${most}\n${install}`)).toThrow('more than 50 permissions and install profiles.')
})

test('the file is refused if other users may write to it', async () => {
  await inTempFolder(folder => {
    const path = join(folder, 'agent.conf')
    expect(() => readConfigFile(path)).toThrow(`${path} does not exist.`)
    writeFileSync(path, 'hub = https://hub.example.com\n', { mode: 0o644 })
    expect(readConfigFile(path).hub).toBe('https://hub.example.com')
    for (const mode of [0o664, 0o646]) {
      chmodSync(path, mode)
      expect(() => readConfigFile(path)).toThrow(`${path} can be written by other users (mode ${mode.toString(8)}).`)
    }
    chmodSync(path, 0o600)
    chmodSync(folder, 0o777)
    expect(() => readConfigFile(path)).toThrow(`${folder} can be written by other users`)
    chmodSync(folder, 0o700)
    mkdirSync(join(folder, 'd'))
    expect(() => readConfigFile(join(folder, 'd'))).toThrow('is not a file')
    writeFileSync(path, '#'.repeat(70_000))
    expect(() => readConfigFile(path)).toThrow('is larger than')
  })
})

test('settings are changed without touching other lines, and the agent can read them', async () => {
  await inTempFolder(folder => {
    const path = join(folder, 'etc', 'agent.conf')
    const mask = process.umask(0o077)
    try {
      changeConfigFile(path, { hub: 'https://one.example.com', allow: 'reboot' })
    } finally {
      process.umask(mask)
    }
    expect([statSync(path).mode & 0o777, statSync(join(folder, 'etc')).mode & 0o777]).toEqual([0o644, 0o755])
    writeFileSync(path, `${readFileSync(path, 'utf8')}# mine\ncontainers = yes`)
    const changed = changeConfigFile(path, { hub: 'https://two.example.com', pin: `sha256:${pin}` })
    expect(changed).toMatchObject({ hub: 'https://two.example.com', pin, allow: ['collect', 'reboot'], containers: true })
    const lines = readFileSync(path, 'utf8').split('\n')
    const set = lines.filter(line => !line.startsWith('#'))
    expect(set).toEqual(['hub = https://two.example.com', 'allow = reboot', 'containers = yes', `pin = sha256:${pin}`, ''])
    expect(lines).toContain('# mine')
    const before = readFileSync(path, 'utf8')
    expect(() => changeConfigFile(path, { allow: 'everything' })).toThrow(InvalidConfigFile)
    expect(() => changeConfigFile(path, { allow: 'reboot\ncontainers = no' })).toThrow(InvalidConfigFile)
    expect(readFileSync(path, 'utf8')).toBe(before)
  })
})
