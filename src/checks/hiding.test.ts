import { describe, expect, test } from 'bun:test'
import { hidingSecrets, withoutBegun } from './hiding'

const secret = `a<b>&"c'/d e%f`

describe('a secret that a server sends back', () => {
  test.each([
    ['as it is', secret],
    ['in a URL', encodeURIComponent(secret)],
    ['in a URL with small digits', encodeURIComponent(secret).replace(/%../g, one => one.toLowerCase())],
    ['in a form', new URLSearchParams({ x: secret }).toString().slice(2)],
    ['in JSON', JSON.stringify(secret).slice(1, -1)],
    ['in JSON of Go', 'a\\u003cb\\u003e\\u0026\\"c\'/d e%f'],
    ['in JSON of PHP', 'a<b>&\\"c\'\\/d e%f'],
    ['in HTML', 'a&lt;b&gt;&amp;"c\'/d e%f'],
    ['in HTML of attributes', 'a&lt;b&gt;&amp;&quot;c&#39;/d e%f'],
    ['in HTML of Python', 'a&lt;b&gt;&amp;&quot;c&#x27;/d e%f'],
    ['in HTML of PHP', 'a&lt;b&gt;&amp;&quot;c&#039;/d e%f'],
    ['in HTML of Go', 'a&lt;b&gt;&amp;&#34;c&#39;/d e%f'],
  ])('%s is blotted out', (_, sent) => {
    expect(hidingSecrets([secret])(`you sent ${sent}.`)).toBe('you sent [secret].')
  })

  test('in another charset is blotted out', () => {
    const hide = hidingSecrets(['pässwörd'])
    expect(hide(Buffer.from('=pässwörd.', 'latin1').toString())).toBe('=[secret].')
    expect(hide(Buffer.from('=pässwörd.').toString('latin1'))).toBe('=[secret].')
  })

  test('in Base64 is blotted out wherever it stands', () => {
    for (const user of ['', 'a', 'ab', 'probe'])
      expect(hidingSecrets(['changeme-9f2c41'])(btoa(`${user}:changeme-9f2c41`))).toContain('[secret]')
  })

  test('and is cut off in its midst is left out as far as it came', () => {
    expect(withoutBegun('key=changeme-9f2', ['changeme-9f2c41'])).toBe('key=')
    expect(withoutBegun(`key=${encodeURIComponent(secret).slice(0, 9)}`, [secret])).toBe('key=')
    expect(withoutBegun('all is cha', ['changeme-9f2c41'])).toBe('all is cha')
    expect(withoutBegun('well', [])).toBe('well')
  })
})
