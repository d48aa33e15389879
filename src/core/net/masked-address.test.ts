import { expect, test } from 'bun:test'
import { maskedAddress } from './masked-address'

test.each([
  ['https://shop.example.com/health?page=2', 'https://shop.example.com/health?page=2'],
  ['https://ada:changeme@shop.example.com/?api_key=s1&page=2&x=', 'https://***@shop.example.com/?api_key=***&page=2&x='],
  ['wss://shop.example.com?t=0123456789abcdef01234', 'wss://shop.example.com?t=***'],
  ['https://hooks.example.com/services/T00/0123456789abcdef01234', 'https://hooks.example.com/services/T00/***'],
  ['https://shop.example.com/status-of-all-payments#access_token=s1', 'https://shop.example.com/status-of-all-payments'],
  ['mail.example.com:993', 'mail.example.com:993'],
  ['[2001:db8::7]:636', '[2001:db8::7]:636'],
  ['www.example.com', 'www.example.com'],
])('of %p, %p is shown', (address, shown) => {
  expect(maskedAddress(address)).toBe(shown)
})
