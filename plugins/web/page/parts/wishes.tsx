/** What a new subscription skips, and what it keeps. The answers become rules. */
import { useState } from 'preact/hooks'
import type { Wishes } from '../server/records.ts'
import { isThere } from '../stores/left-out.ts'
import { t } from '../texts/lookup.ts'
import { Field, Select } from './field.tsx'

const KEEPS = ['everything', 'newest', 'days', 'watched'] as const

interface Given {
  shorts: boolean
  streams: boolean
  minutes: string
  only: string
  without: string
  keep: (typeof KEEPS)[number]
  count: string
}
const NOTHING: Given = {
  ...{ shorts: false, streams: false, minutes: '', only: '', without: '', keep: 'everything', count: '10' },
}

const wordsIn = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')

/** @returns undefined: there are no wishes */
function toWishes({ shorts, streams, minutes, only, without, keep, count }: Given): Wishes | undefined {
  const kinds = [...(shorts ? (['shorts'] as const) : []), ...(streams ? (['streams'] as const) : [])]
  const [seconds, number] = [Math.round(Number(minutes) * 60), Math.round(Number(count))]
  const limit: Wishes['keep'] =
    keep === 'watched' ? { until: 'watched' } : keep === 'newest' ? { newest: number } : { days: number }
  const wishes: Wishes = {
    ...(kinds.length > 0 && { skip_kinds: kinds }),
    ...(seconds > 0 && { skip_shorter_than: seconds }),
    ...(wordsIn(only).length > 0 && { only_titles: wordsIn(only) }),
    ...(wordsIn(without).length > 0 && { skip_titles: wordsIn(without) }),
    ...(keep !== 'everything' && (keep === 'watched' || number > 0) && { keep: limit }),
  }
  return Object.keys(wishes).length > 0 ? wishes : undefined
}

export function useWishes() {
  const [given, set] = useState(NOTHING)
  return {
    wishes: toWishes(given),
    wishesFields: isThere('rules') && <WishesFields given={given} change={(part) => set({ ...given, ...part })} />,
  }
}

function WishesFields({ given, change }: { given: Given; change: (part: Partial<Given>) => void }) {
  const { minutes, only, without, keep, count } = given
  return (
    <details class="wishes">
      <summary class="unfold">{t('wishes')}</summary>
      {(['shorts', 'streams'] as const).map((kind) => (
        <label class="check" key={kind}>
          <input
            type="checkbox"
            checked={given[kind]}
            onChange={({ currentTarget }) => change({ [kind]: currentTarget.checked })}
          />
          {t(`wishes.skip.${kind}`)}
        </label>
      ))}
      <Field
        label={t('wishes.shorter')}
        type="number"
        min={0}
        value={minutes}
        onInput={(text) => change({ minutes: text })}
      />
      <Field
        label={t('wishes.only')}
        hint={t('rules.words.hint')}
        value={only}
        onInput={(text) => change({ only: text })}
      />
      <Field label={t('wishes.without')} value={without} onInput={(text) => change({ without: text })} />
      <Select
        label={t('wishes.keep')}
        value={keep}
        choices={KEEPS.map((one) => ({ value: one, label: t(`wishes.keep.${one}`) }))}
        hint={keep === 'everything' ? undefined : t('wishes.keep.hint')}
        onChange={(chosen) => change({ keep: chosen })}
      />
      {(keep === 'newest' || keep === 'days') && (
        <Field
          label={t(`wishes.keep.${keep}.count`)}
          type="number"
          min={1}
          value={count}
          onInput={(text) => change({ count: text })}
        />
      )}
    </details>
  )
}
