/** What a new subscription downloads: the newest ten, all videos, or only new ones. */
import { signal } from '@preact/signals'
import { Rss } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { whenOver } from '../server/api.ts'
import type { Take, Wishes } from '../server/records.ts'
import type { Understood } from '../stores/identify-links.ts'
import { t } from '../texts/lookup.ts'
import { subscribe } from './adding.ts'
import { Dialog } from './dialog.tsx'
import { FormButtons } from './form.tsx'
import { Pasted } from './pasted.tsx'
import { useWishes } from './wishes.tsx'

const CHOICES = ['newest', 'all', 'new'] as const
type Choice = (typeof CHOICES)[number]
const NEWEST = 10
const toTake = (choice: Choice): Take => (choice === 'newest' ? NEWEST : choice)

/** What a new subscription downloads now, and what it skips and keeps from then on. */
export interface Beginning {
  take: Take
  wishes?: Wishes | undefined
}

/** The values, and the fields for them. */
export function useBeginning(): { beginning: Beginning; fields: ComponentChildren } {
  const { take, choice } = useTake()
  const { wishes, wishesFields } = useWishes()
  return {
    beginning: { take, ...(wishes && { wishes }) },
    fields: (
      <>
        {choice}
        {wishesFields}
      </>
    ),
  }
}

/** @param first  the preselected option */
export function useTake(first: Choice = 'newest') {
  const [choice, choose] = useState<Choice>(first)
  return { take: toTake(choice), choice: <TakeChoice choice={choice} choose={choose} /> }
}

function TakeChoice({ choice, choose }: { choice: Choice; choose: (choice: Choice) => void }) {
  const id = useId()
  return (
    <fieldset class="take">
      <legend>{t('take.what')}</legend>
      {CHOICES.map((one) => (
        <label key={one}>
          <input type="radio" name={id} value={one} checked={one === choice} onChange={() => choose(one)} />
          <span>
            {t(`take.${one}`, { count: NEWEST })}
            <span class="hint">{t(`take.${one}.hint`)}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

interface Question {
  title: string
  /** Shown with picture, name, number of videos and size. */
  understood: readonly Understood[]
  answer: (beginning: Beginning | undefined) => void
}

const asked = signal<Question | undefined>(undefined)
whenOver(() => asked.peek()?.answer(undefined))

/** @returns undefined: the user has canceled */
export function askWhatToTake(understood: readonly Understood[]): Promise<Beginning | undefined> {
  const name = understood.length === 1 ? understood[0]!.name : undefined
  return new Promise((resolve) => {
    asked.value?.answer(undefined)
    asked.value = {
      title: name === undefined ? t('subscribe.title') : t('subscribe.off', { name }),
      understood,
      answer(beginning) {
        asked.value = undefined
        resolve(beginning)
      },
    }
  })
}

/**
 * @returns false: the user has canceled
 * @throws Failure
 */
export async function askAndSubscribe(understood: readonly Understood[]): Promise<false | void> {
  const beginning = await askWhatToTake(understood)
  if (beginning === undefined) return false
  await subscribe(understood, beginning)
}

/** Rendered once in the frame. */
export const TakeQuestion = () => asked.value && <Asked {...asked.value} />

function Asked({ title, understood, answer }: Question) {
  const { beginning, fields } = useBeginning()
  return (
    <Dialog title={title} onClose={() => answer(undefined)}>
      <form
        class="take-form"
        onSubmit={(event) => {
          event.preventDefault()
          answer(beginning)
        }}
      >
        <Pasted reading={{ understood: [...understood], others: [], nobody: [] }} isLinked={false} />
        {fields}
        <footer>
          <FormButtons action={t('video.subscribe')} icon={Rss} onCancel={() => answer(undefined)} />
        </footer>
      </form>
    </Dialog>
  )
}
