/** Jars as browser extensions write them, converted to the form that the downloader reads. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJar } from '../../../plugins/cookie/jar-text.ts'

const row = (...fields: string[]) => fields.join('\t')
const cookiesOf = (...rows: string[]) => parseJar(rows.join('\n'), 'YouTube').trim().split('\n').slice(1)

test('flags in lower case, or inconsistent with the dot before the domain, are corrected for the downloader', () => {
  const jar = [
    row('.youtube.com', 'true', '/', 'true', '1900000000', 'SID', 'abc'),
    row('www.youtube.com', 'false', '/', 'False', '0', 'PREF', 'f1=5'),
    row('.youtube.com', 'FALSE', '/', 'TRUE', '1900000000.25', 'A', ''),
    row('youtube.com', 'TRUE', '/', 'FALSE', '', 'B', 'b'),
    row('#httponly_.youtube.com', 'false', '/', 'true', '-1', 'C', 'c'),
  ]

  const read = cookiesOf(...jar)

  assert.deepEqual(read, [
    row('.youtube.com', 'TRUE', '/', 'TRUE', '1900000000', 'SID', 'abc'),
    row('www.youtube.com', 'FALSE', '/', 'FALSE', '0', 'PREF', 'f1=5'),
    row('.youtube.com', 'TRUE', '/', 'TRUE', '1900000000.25', 'A', ''),
    row('youtube.com', 'FALSE', '/', 'FALSE', '', 'B', 'b'),
    row('#HttpOnly_.youtube.com', 'TRUE', '/', 'TRUE', '0', 'C', 'c'),
  ])
})

test('an error that cannot be corrected is reported by line and field, without the content', () => {
  const good = row('.youtube.com', 'TRUE', '/', 'TRUE', '0', 'SID', 'secret')
  for (const [bad, words] of [
    [row('.youtube.com', 'yes', '/', 'TRUE', '0', 'SID', 'secret'), /^Line 2: the second and the fourth field/],
    [row('.youtube.com', 'TRUE', '/', '1', '0', 'SID', 'secret'), /^Line 2: the second and the fourth field/],
    [row('.youtube.com', 'TRUE', '', 'TRUE', '0', 'SID', 'secret'), /^Line 2: the third field/],
    [row('.youtube.com', 'TRUE', '/', 'TRUE', '1.9e+09', 'SID', 'secret'), /^Line 2: the fifth field/],
    [good.replaceAll('\t', '    '), /^Line 2 isn’t in Netscape format/],
    [row('.youtube.com', 'TRUE', '/', 'TRUE', '0', 'secret'), /^Line 2 isn’t in Netscape format/],
  ] as const) {
    const thrown = (() => {
      try {
        return cookiesOf(good, bad)
      } catch (error) {
        return error as Error
      }
    })()

    assert.ok(thrown instanceof Error, bad)
    assert.match(thrown.message, words)
    assert.doesNotMatch(thrown.message, /secret/)
  }
})

test('JSON is reported as JSON, in one line or in many', () => {
  for (const json of ['[{"name":"SID"}]', '\ufeff[\n {\n  "domain": ".youtube.com"\n }\n]', '\n{"cookies": []}'])
    assert.throws(() => parseJar(json, 'YouTube'), /This is JSON/)
})
