import { expect, test } from 'bun:test'
import { baseUrl, InvalidSetting, loadConfig } from './config'

const pingHost = (text: string) => loadConfig({}, { BAILIWICK_PING_HOST: text }).pingHost

test.each(['ping.example.com', 'PING.Example.com', 'localhost', '192.0.2.7', 'xn--bcher-kva.example'])(
  'BAILIWICK_PING_HOST accepts the hostname %s',
  text => {
    expect(pingHost(text)).toBe(text.toLowerCase())
  },
)

test.each([
  'a/b',
  'a/b c',
  'https://ping.example.com',
  'ping.example.com:8484',
  'bücher.example',
  'a..b',
  '-a.example',
  '.',
  'a.',
])('BAILIWICK_PING_HOST rejects %j, which is not a hostname', text => {
  expect(() => pingHost(text)).toThrow(InvalidSetting)
  expect(() => pingHost(text)).toThrow(/^BAILIWICK_PING_HOST: '.*' is not a hostname/)
})

test('an empty list of name servers for new zones is rejected', () => {
  expect(() => loadConfig({}, { BAILIWICK_DNS_NAMESERVERS: ',' })).toThrow('BAILIWICK_DNS_NAMESERVERS: It contains no hostname.')
})

test('errors name the flag of a setting only if it was used', () => {
  expect(() => loadConfig({ listen: 'x' }, { BAILIWICK_LISTEN: 'y' })).toThrow("--listen: 'x' is not HOST:PORT")
  expect(() => loadConfig({}, { BAILIWICK_LISTEN: 'y' })).toThrow("BAILIWICK_LISTEN: 'y' is not HOST:PORT")
  const { names } = loadConfig({ data: '.' }, { BAILIWICK_LISTEN: ':80' })
  expect([names.data, names.listen, names.dnsListen]).toEqual(['--data', 'BAILIWICK_LISTEN', 'BAILIWICK_DNS_LISTEN'])
})

test.each([
  [{ BAILIWICK_LISTEN: '[::]:80' }, 'http://localhost'],
  [{ BAILIWICK_LISTEN: '[::1]:80' }, 'http://[::1]'],
  [{ BAILIWICK_LISTEN: '127.0.0.1:443' }, 'http://127.0.0.1:443'],
  [{ BAILIWICK_LISTEN: '127.0.0.1:443', BAILIWICK_TLS_CERT: 'a', BAILIWICK_TLS_KEY: 'b' }, 'https://127.0.0.1'],
  [{ BAILIWICK_BASE_URL: 'https://hub.example.com:443' }, 'https://hub.example.com'],
])('the URL of a hub with %j has no default port', (env, url) => {
  const config = loadConfig({}, env)
  expect(baseUrl(config, config.listen.port)).toBe(url)
})
