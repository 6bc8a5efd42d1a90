/** The table of failure classes matches the documents and the page. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { ERROR_CLASSES } from '../../../plugins/download/schema.ts'
import { FAILURES, type FailureClass, type FailureRow } from '../../../plugins/platform/failure-classes.ts'
import { CLASSES, FOR_COOKIE, LATER } from '../../../plugins/web/page/stores/failures.ts'
import en from '../../../plugins/web/page/texts/languages/en.json' with { type: 'json' }
import { languagesBesideEnglish } from '../../support/languages.ts'
import { ROOT } from '../../support/sources.ts'

const rows = Object.entries(FAILURES) as Array<[FailureClass, FailureRow]>
const namesOf = (isMeant: (row: FailureRow) => boolean) => rows.filter(([, row]) => isMeant(row)).map(([name]) => name)
const noted = namesOf(({ item }) => item !== 'wait')

test('queue items can have exactly those classes that do not wait at the gate', () => {
  assert.deepEqual(ERROR_CLASSES, noted)
})

test('a failure that may end without notice is retried, or says when', () => {
  const told = namesOf(({ again }) => again === 'told')
  const looks = namesOf(({ again }) => again === 'rechecked')

  assert.deepEqual([...told, ...looks].sort(), [...noted].sort())
  assert.deepEqual(told, ['upcoming', 'not_offered'])
})

test('a failure that waits at the gate closes it', () => {
  const waiting = namesOf(({ item }) => item === 'wait')

  assert.deepEqual(
    waiting.filter((name) => !FAILURES[name].gate),
    [],
  )
})

test('the contract contains the same table', async () => {
  const contract = await readFile(join(ROOT, 'plugins/openapi/contract.md'), 'utf8')
  const [, table = ''] = /^\| error_class \| meaning \|.*\n\|[-|]+\n((?:\|.*\n)+)/m.exec(contract) ?? []

  const written = table.trim().split('\n')

  const fate = ({ item, again, needsAccount }: FailureRow) =>
    `${item === 'final' ? 'recorded at once' : 'retried, then recorded'}${again === 'rechecked' ? '; retried regularly' : ''}${needsAccount ? '; retried when the cookie changes' : ''}`
  assert.deepEqual(
    written,
    rows.filter(([, { item }]) => item !== 'wait').map(([name, row]) => `| ${name} | ${row.meaning} | ${fate(row)} |`),
  )
})

test('the page has a title and a text for each class of queue items, in each language', async () => {
  const wanted = noted.flatMap((name) => [`downloads.class.${name}`, `downloads.class.${name}.text`]).sort()

  const others = await languagesBesideEnglish()

  assert.ok(others.has('de'))
  for (const [language, texts] of [['en', en] as const, ...others]) {
    const keys = Object.keys(texts).filter((key) => key.startsWith('downloads.class.'))
    assert.deepEqual(keys.sort(), wanted, language)
  }
  assert.deepEqual([...CLASSES, LATER].sort(), [...noted].sort())
})

test('the page offers a cookie for failures that need an account', () => {
  assert.deepEqual(
    [...FOR_COOKIE],
    namesOf(({ needsAccount }) => needsAccount === true),
  )
})
