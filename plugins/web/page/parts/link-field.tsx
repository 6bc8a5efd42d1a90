/** A field for links that says while one types what each of them is, and what to do with them below. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Failure, toFailure } from '../server/api.ts'
import { lookUpSoon, type Understood, understand, useUnderstood } from '../stores/understand.ts'
import { t } from '../texts/lookup.ts'
import { Field } from './field.tsx'
import { Form, useForm } from './form.tsx'
import { Pasted } from './pasted.tsx'
import { Box } from './states.tsx'

interface LinkFieldProps {
  label: string
  hint: string
  /** Shown where it is sent with nothing in it. */
  missing: string
  /** It is one of many things on its page: its buttons come with the first letter. */
  isCalm?: boolean
  /** Why a link is of no use here, by its target; undefined: it is. */
  refuse?: (one: Understood) => string | undefined
  /** What is not understood stays in the field. false: nothing was done, so all of it stays. */
  onSend: (understood: Understood[], how: string) => Promise<void | false>
  /** Further questions, above the buttons. */
  more?: ComponentChildren
  /** Buttons of the form: their `value` is `how`. `isUseless`: nothing in the text can be had. */
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
    // Who is quicker than the moment of rest is not made to wait for it.
    const { understood, others, nobody } = await lookUpSoon(await understand(text))
    const problem =
      nobody.length > 0 && understood.length === 0
        ? t('pasted.nobody', { count: nobody.length, words: nobody.join(', ') })
        : understood.length === 0
          ? missing
          : understood.map((one) => refuse?.(one)).find(Boolean)
    if (problem) throw new Failure(400, { message: problem })
    const isDone = await onSend(understood, (submitter as HTMLButtonElement | null)?.value ?? '').catch(inOneSentence)
    if (isDone !== false) setText([...nobody, ...others].join('\n'))
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

/** The server names each link that it refuses as a field of its own. */
function inOneSentence(error: unknown): never {
  const [rule] = Object.values(toFailure(error).fields)
  throw rule === undefined ? error : new Failure(400, { message: t('links.refused', { rule }) })
}
