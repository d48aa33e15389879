import { expect, test } from 'bun:test'
import { BadSetting, loadConfig } from './config'

const pingHost = (text: string) => loadConfig({}, { BAILIWICK_PING_HOST: text }).pingHost

test.each(['ping.example.com', 'PING.Example.com', 'localhost', '192.0.2.7', 'xn--bcher-kva.example'])(
  'BAILIWICK_PING_HOST takes the host name %s',
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
])('BAILIWICK_PING_HOST refuses %j, which no request names', text => {
  expect(() => pingHost(text)).toThrow(BadSetting)
  expect(() => pingHost(text)).toThrow(/^BAILIWICK_PING_HOST: '.*' is not a host name/)
})
