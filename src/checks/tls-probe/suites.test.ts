import { expect, test } from 'bun:test'
import { suiteOf, suites13, suites2, suitesBefore13 } from './suites'

test.each([
  [0x0001, 'TLS_RSA_WITH_NULL_MD5', 'rsa', 'rsa', 'NULL', 'null', 0, null, false],
  [0x0003, 'TLS_RSA_EXPORT_WITH_RC4_40_MD5', 'rsa_export', 'rsa', 'RC4', 'stream', 40, null, false],
  [0x0006, 'TLS_RSA_EXPORT_WITH_RC2_CBC_40_MD5', 'rsa_export', 'rsa', 'RC2', 'cbc', 40, 64, false],
  [0x000a, 'TLS_RSA_WITH_3DES_EDE_CBC_SHA', 'rsa', 'rsa', '3DES', 'cbc', 112, 64, false],
  [0x0014, 'TLS_DHE_RSA_EXPORT_WITH_DES40_CBC_SHA', 'dhe_export', 'rsa', 'DES', 'cbc', 40, 64, true],
  [0x0030, 'TLS_DH_DSS_WITH_AES_128_CBC_SHA', 'dh', 'dss', 'AES', 'cbc', 128, 128, false],
  [0x0034, 'TLS_DH_anon_WITH_AES_128_CBC_SHA', 'dhe', 'anonymous', 'AES', 'cbc', 128, 128, true],
  [0x0094, 'TLS_RSA_PSK_WITH_AES_128_CBC_SHA', 'rsa', 'psk', 'AES', 'cbc', 128, 128, false],
  [0xc004, 'TLS_ECDH_ECDSA_WITH_AES_128_CBC_SHA', 'ecdh', 'ecdsa', 'AES', 'cbc', 128, 128, false],
  [0xc015, 'TLS_ECDH_anon_WITH_NULL_SHA', 'ecdhe', 'anonymous', 'NULL', 'null', 0, null, true],
  [0xc01e, 'TLS_SRP_SHA_RSA_WITH_AES_128_CBC_SHA', 'srp', 'rsa', 'AES', 'cbc', 128, 128, true],
  [0xc02f, 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'ecdhe', 'rsa', 'AES', 'aead', 128, 128, true],
  [0xc0aa, 'TLS_PSK_DHE_WITH_AES_128_CCM_8', 'dhe', 'psk', 'AES', 'aead', 128, 128, true],
  [0xc101, 'TLS_GOSTR341112_256_WITH_MAGMA_CTR_OMAC', 'gost', 'gost', 'MAGMA', 'stream', 256, 64, false],
  [0xcca9, 'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256', 'ecdhe', 'ecdsa', 'CHACHA20', 'aead', 256, null, true],
  [0x0064, 'TLS_RSA_EXPORT1024_WITH_RC4_56_SHA', 'rsa_export', 'rsa', 'RC4', 'stream', 56, null, false],
  [0x1302, 'TLS_AES_256_GCM_SHA384', 'any', 'any', 'AES', 'aead', 256, 128, true],
  [0xc0b4, 'TLS_SHA256_SHA256', 'any', 'any', 'NULL', 'null', 0, null, true],
  [0xc105, 'TLS_GOSTR341112_256_WITH_KUZNYECHIK_MGM_S', 'any', 'any', 'KUZNYECHIK', 'aead', 256, 128, true],
  [0x020080, 'SSL_CK_RC4_128_EXPORT40_WITH_MD5', 'rsa_export', 'rsa', 'RC4', 'stream', 40, null, false],
  [0x0700c0, 'SSL_CK_DES_192_EDE3_CBC_WITH_MD5', 'rsa', 'rsa', '3DES', 'cbc', 112, 64, false],
])('the suite %d is %s', (id, name, key_exchange, authentication, cipher, mode, bits, block_bits, forward_secrecy) => {
  const expected = { id, name, key_exchange, authentication, cipher, mode, bits, block_bits, forward_secrecy }
  expect(suiteOf.get(id)).toEqual(expected as never)
})

test('every suite is offered in the versions it is for, and no signaling value is', () => {
  expect([suites2.length, suites13.length, suitesBefore13.length, suiteOf.size]).toEqual([8, 15, 349, 372])
  expect([0x0000, 0x00ff, 0x5600].filter(id => suiteOf.has(id))).toEqual([])
  const incomplete = [...suiteOf.values()].filter(one => Number.isNaN(one.bits) || /undefined/.test(JSON.stringify(one)))
  expect(incomplete).toEqual([])
})
