/** The texts of the page: every language has all of them, with the values that the page gives them. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { type Entry, namesIn, VALUES_FILE, valuesOf, writtenValues } from '../../../config/text-values.ts'
import { languages, languagesBesideEnglish, type Texts, textFile, textsIn } from '../../support/languages.ts'
import { testApp } from '../../support/testing.ts'

/** Texts for what the server sends in English: preferences and tasks by their names, messages by their text. */
const OF_SERVER = /^(preference|task|server)\./
/** Matches `  "key": "text",` or `  "key": { "one": "text", "other": "text" },` */
const LINE = /^ {2}("(?:[^"\\]|\\.)+"): (?:"(?:[^"\\]|\\.)*"|\{ .+ \}),?$/

const formsOf = (entry: Entry): string[] => (typeof entry === 'string' ? [entry] : Object.values(entry))

/** @returns one sentence for each fault */
function faultsOf(language: string, texts: Texts, english: Texts): string[] {
  const wanted = new Set(new Intl.PluralRules(language).resolvedOptions().pluralCategories as string[])
  const missing = Object.keys(english).filter((key) => !Object.hasOwn(texts, key))
  const wrong = Object.entries(texts).flatMap(([key, entry]) => {
    if (typeof entry !== 'string') {
      const forms = Object.keys(entry)
      if (!forms.includes('other') || forms.some((form) => !wanted.has(form)))
        return [`${key} has the plural forms ${forms.join(', ')}`]
    }
    if (!Object.hasOwn(english, key)) return OF_SERVER.test(key) ? [] : [`${key}: the English texts have no such key`]
    return valueFaults(key, entry, english[key]!)
  })
  return [...missing.map((key) => `${key} is not translated`), ...wrong]
}

/** A text may omit a count: “the newest”. */
function valueFaults(key: string, entry: Entry, english: Entry): string[] {
  const given = valuesOf(english)
  const used = valuesOf(entry)
  const lost = given.filter((name) => name !== 'count' && !used.includes(name))
  const unknown = formsOf(entry).flatMap((text) => namesIn(text).filter((name) => !given.includes(name)))
  return [
    ...lost.map((name) => `${key} lacks {${name}}`),
    ...unknown.map((name) => `${key}: the English text has no {${name}}`),
  ]
}

test('every language has each English text with its values', async () => {
  const [english, others] = await Promise.all([textsIn('en'), languagesBesideEnglish()])

  const faults = [['en', english] as const, ...others].flatMap(([language, texts]) =>
    faultsOf(language, texts, english).map((fault) => `${language}: ${fault}`),
  )

  assert.ok(others.has('de') && Object.keys(english).length > 1000)
  assert.deepEqual(faults, [])
})

test('missing texts, unknown keys, wrong values and wrong plural forms are found', () => {
  const english = { lost: 'Lost', name: 'Hello {name}', sum: { one: '{count} of {all}', other: '{count} of {all}' } }
  const texts = { name: 'Hallo {nam}', sum: { one: 'Das einzige', few: '', other: '{count}' }, own: 'Eigen' }

  const faults = faultsOf('de', texts, english)
  const withoutFew = faultsOf('de', { ...texts, sum: { other: '{count} von {al}' } }, english)

  assert.deepEqual(faults, [
    'lost is not translated',
    'name lacks {name}',
    'name: the English text has no {nam}',
    'sum has the plural forms one, few, other',
    'own: the English texts have no such key',
  ])
  assert.ok(withoutFew.includes('sum lacks {all}') && withoutFew.includes('sum: the English text has no {al}'))
})

test('each text of a language is one line, and no key occurs twice', async () => {
  for (const language of await languages()) {
    const lines = (await textFile(language)).split('\n').slice(1, -2)

    const keys = lines.filter((line) => line !== '').map((line) => LINE.exec(line)?.[1] ?? line)

    const known = Object.keys(await textsIn(language)).map((key) => JSON.stringify(key))
    assert.deepEqual(keys, known, language)
  }
})

test('the compiler knows the values of each text (node --import tsx config/text-values.ts writes them)', async () => {
  assert.equal(await readFile(VALUES_FILE, 'utf8'), await writtenValues())
})

test('every event of webhooks has a name in each language', async (t) => {
  const app = await testApp(t)

  const { events } = (await app.as('admin').get('/api/webhook/')).body

  assert.ok(events.length > 10)
  for (const language of await languages()) {
    const texts = await textsIn(language)
    const nameless = events.filter((event: string) => !Object.hasOwn(texts, `settings.webhooks.event.${event}`))
    assert.deepEqual(nameless, [], language)
  }
})
