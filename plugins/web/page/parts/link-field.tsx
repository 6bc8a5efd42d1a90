/** A field for links that identifies each link while somebody types, with the actions below. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Failure, toFailure } from '../server/api.ts'
import { lookUpSoon, type Understood, understand, useUnderstood, wordsOf } from '../stores/identify-links.ts'
import { t } from '../texts/lookup.ts'
import { Field } from './field.tsx'
import { Form, useForm } from './form.tsx'
import { Pasted } from './pasted.tsx'
import { Box } from './states.tsx'

interface LinkFieldProps {
  label: string
  hint: string
  /** Shown when the empty field is submitted. */
  missing: string
  /** The page has many other controls, so the buttons of the field appear only once somebody has typed something. */
  isCalm?: boolean
  /** Why a link cannot be used here, by its target; undefined: it can. */
  refuse?: (one: Understood) => string | undefined
  /**
   * Called with the links. Words that were not understood stay in the field. If it returns false, nothing was done, and
   * the whole text stays.
   */
  onSend: (understood: Understood[], how: string) => Promise<void | false>
  /** Further options, above the buttons. */
  more?: ComponentChildren
  /** The submit buttons; their `value` is passed as `how`. `isUseless`: the text contains nothing usable. */
  buttons: (state: { isUseless: boolean; understood: readonly Understood[] }) => ComponentChildren
}

export function LinkField({ label, hint, missing, isCalm = false, refuse, onSend, more, buttons }: LinkFieldProps) {
  const [text, setText] = useState('')
  const form = useForm({ links: { showsRest: true } })
  const { reading, failure, isReading } = useUnderstood(text)
  const { understood } = reading
  const isUseless = !isReading && !failure && text.trim() !== '' && understood.length === 0
  const refused = understood.map((one) => refuse?.(one)).find(Boolean)

  const submit = async ({ submitter }: SubmitEvent) => {
    // Submitting before the typing pause has passed does not wait for it.
    const { understood, nobody } = await lookUpSoon(await understand(text))
    const problem =
      nobody.length > 0 && understood.length === 0
        ? t('pasted.nobody', { count: nobody.length, words: nobody.join(', ') })
        : understood.length === 0
          ? missing
          : understood.map((one) => refuse?.(one)).find(Boolean)
    if (problem) throw new Failure(400, { message: problem })
    const isDone = await onSend(understood, (submitter as HTMLButtonElement | null)?.value ?? '').catch(inOneSentence)
    if (isDone === false) return
    const sent = new Set(understood.map(({ word }) => word))
    // Keeps what was typed meanwhile.
    setText((now) =>
      wordsOf(now)
        .filter((word) => !sent.has(word))
        .join('\n'),
    )
  }

  return (
    <Form form={form} class="link-field" onSubmit={submit}>
      <Field
        label={label}
        value={text}
        lines={2}
        hint={hint}
        error={form.errors.links ?? refused ?? failure?.message}
        autocomplete="off"
        onInput={setText}
      />
      {isReading && understood.length + reading.others.length + reading.nobody.length === 0 && (
        <Box height="32px" radius="6px" />
      )}
      {text.trim() !== '' && <Pasted reading={reading} />}
      {more}
      {(text.trim() !== '' || !isCalm) && <footer>{buttons({ isUseless, understood })}</footer>}
    </Form>
  )
}

/** The server reports each rejected link as a separate field. */
function inOneSentence(error: unknown): never {
  const [rule] = Object.values(toFailure(error).fields)
  throw rule === undefined ? error : new Failure(400, { message: t('links.refused', { rule }) })
}
