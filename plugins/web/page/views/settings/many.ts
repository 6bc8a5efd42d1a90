/**
 * Text form of settings with several values: a list has one value per line, a map one `name = value`; others are JSON.
 */
import { t } from '../../texts/lookup.ts'
import { Refused } from './option.tsx'
import type { OptionSchema } from './option-schema.ts'

export interface Many {
  hint: string
  shown(value: unknown): string
  /** @throws Failure  a line is invalid for the setting */
  read(text: string): unknown
}

const PLAIN: ReadonlySet<string | undefined> = new Set(['string', 'integer', 'number', 'boolean'])

/** @returns undefined: the setting has a single value */
export function manyOf(schema: OptionSchema): Many | undefined {
  const { type, items, properties, patternProperties = {}, additionalProperties } = schema
  if (type === 'array' && items && PLAIN.has(items.type)) return listOf(items)
  if (type !== 'array' && type !== 'object') return undefined
  const [entry] = Object.values(patternProperties)
  const any = entry ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined)
  return type === 'object' && !properties && any && PLAIN.has(any.type) ? mapOf(any) : jsonText()
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

const listOf = (items: OptionSchema): Many => ({
  hint: t('settings.lines'),
  shown: (value) => (value as unknown[]).join('\n'),
  read: (text) => linesOf(text).map((line) => valueIn(line, items)),
})

const mapOf = (entry: OptionSchema): Many => ({
  hint: t('settings.lines.map'),
  shown: (value) =>
    Object.entries(value as Record<string, unknown>)
      .map(([name, one]) => `${name} = ${String(one)}`)
      .join('\n'),
  read: (text) =>
    Object.fromEntries(
      linesOf(text).map((line) => {
        const at = line.indexOf('=')
        if (at < 1) throw new Refused(t('settings.lines.map.wrong', { line }))
        return [line.slice(0, at).trim(), valueIn(line.slice(at + 1).trim(), entry)]
      }),
    ),
})

function valueIn(text: string, { type }: OptionSchema): unknown {
  if (type === 'string') return text
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  const number = Number(text)
  if (type === 'boolean' || text === '' || Number.isNaN(number)) throw new Refused(t('settings.lines.wrong', { text }))
  return number
}

const jsonText = (): Many => ({
  hint: t('settings.json'),
  shown: (value) => JSON.stringify(value, undefined, 2),
  read(text) {
    try {
      return JSON.parse(text)
    } catch {
      throw new Refused(t('settings.json.wrong'))
    }
  },
})
