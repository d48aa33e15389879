import { expect, test } from 'bun:test'
import { InvalidSetting, loadConfig } from './config'

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
