import { describe, expect, test } from 'bun:test'
import { secretRedactor, withoutPartialSecret } from './redaction'

const secret = `a<b>&"c'/d e%f`

describe('a secret echoed by a server', () => {
  test.each([
    ['verbatim', secret],
    ['in a URL', encodeURIComponent(secret)],
    ['in a URL with lowercase hex digits', encodeURIComponent(secret).replace(/%../g, one => one.toLowerCase())],
    ['in a form', new URLSearchParams({ x: secret }).toString().slice(2)],
    ['in JSON', JSON.stringify(secret).slice(1, -1)],
    ['in JSON from Go', 'a\\u003cb\\u003e\\u0026\\"c\'/d e%f'],
    ['in JSON from PHP', 'a<b>&\\"c\'\\/d e%f'],
    ['in HTML', 'a&lt;b&gt;&amp;"c\'/d e%f'],
    ['in an HTML attribute', 'a&lt;b&gt;&amp;&quot;c&#39;/d e%f'],
    ['in HTML from Python', 'a&lt;b&gt;&amp;&quot;c&#x27;/d e%f'],
    ['in HTML from PHP', 'a&lt;b&gt;&amp;&quot;c&#039;/d e%f'],
    ['in HTML from Go', 'a&lt;b&gt;&amp;&#34;c&#39;/d e%f'],
  ])('%s is redacted', (_, sent) => {
    expect(secretRedactor([secret])(`you sent ${sent}.`)).toBe('you sent [secret].')
  })

  test('in another charset is redacted', () => {
    const hide = secretRedactor(['pässwörd'])
    expect(hide(Buffer.from('=pässwörd.', 'latin1').toString())).toBe('=[secret].')
    expect(hide(Buffer.from('=pässwörd.').toString('latin1'))).toBe('=[secret].')
  })

  test('in Base64 is redacted at any offset', () => {
    for (const user of ['', 'a', 'ab', 'probe'])
      expect(secretRedactor(['changeme-9f2c41'])(btoa(`${user}:changeme-9f2c41`))).toContain('[secret]')
  })

  test('that was cut off is removed up to the cut', () => {
    expect(withoutPartialSecret('key=changeme-9f2', ['changeme-9f2c41'])).toBe('key=')
    expect(withoutPartialSecret(`key=${encodeURIComponent(secret).slice(0, 9)}`, [secret])).toBe('key=')
    expect(withoutPartialSecret('all is cha', ['changeme-9f2c41'])).toBe('all is cha')
    expect(withoutPartialSecret('well', [])).toBe('well')
  })

  test('is not shown in part at the end of the beginning of a long text', () => {
    const long = `changeme${'z'.repeat(92)}`
    const hide = secretRedactor([long, 'zzzz'])
    const shown = hide(long.repeat(100), 9_950)
    expect(shown).toStartWith('[secret][secret]')
    expect(shown.replaceAll('[secret]', '')).not.toMatch(/change|z/)
    expect(hide(`${long}.`, 101)).toBe('[secret].')
    expect(hide(long, 50)).toBe('')
    expect(secretRedactor([])('abc', 2)).toBe('ab')
  })
})
