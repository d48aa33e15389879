import { Pkcs10CertificateRequest, SubjectAlternativeNameExtension } from '@peculiar/x509'
import { expect, test } from 'bun:test'
import { certificateRequest } from './certificate-request'
import { createPrivateKey } from './private-key'

test.each(['ec-256', 'ec-384', 'rsa-2048'] as const)(
  'a request for a key of the type %s is as a library reads it',
  async type => {
    const names = ['example.com', '*.example.com', ...Array.from({ length: 98 }, (_, at) => `${'n'.repeat(40)}${at}.example.com`)]
    const request = new Pkcs10CertificateRequest(certificateRequest(names, await createPrivateKey(type)))
    expect(await request.verify()).toBe(true)
    expect([request.subject, request.extensions.length]).toEqual(['', 1])
    const found = new SubjectAlternativeNameExtension(request.extensions[0]!.rawData).names.items
    expect(found.map(one => [one.type, one.value])).toEqual(names.map(name => ['dns', name]))
  },
)
