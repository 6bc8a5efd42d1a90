/** Answers a sign-in code: shows the screen that displays it, and signs in a chosen profile there. */
import { useState } from 'preact/hooks'
import { changeQuery, route } from '../browser/router.ts'
import { useTitle } from '../browser/title.ts'
import { Avatar } from '../parts/avatar.tsx'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { Form, useForm } from '../parts/form.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { PinField } from '../parts/pin-field.tsx'
import { Empty, Refused } from '../parts/states.tsx'
import { get, post, remove, toFailure } from '../server/api.ts'
import type { AskingScreen } from '../server/records.ts'
import { useLoad } from '../stores/load.ts'
import { toMoment } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'
import { nameOf } from './settings/sessions.tsx'

/** The letters of a typed code, as used in the path of a request. */
const asTyped = (text: string): string => text.replace(/[^A-Za-z]/g, '').toUpperCase()
const pathOf = (code: string): string => `/api/sign-in-code/${code}/`

export default function Link() {
  useTitle(t('link.title'))
  const code = asTyped(route.value.query.get('code') ?? '')
  return (
    <div class="welcome">
      <h1>{t('link.title')}</h1>
      {code === '' ? <TypeCode /> : <Asking key={code} code={code} />}
    </div>
  )
}

function TypeCode({ notice }: { notice?: string }) {
  const [code, setCode] = useState('')
  const form = useForm({ code: { wrong: asTyped(code) === '' && t('form.required') } })
  return (
    <Form form={form} onSubmit={() => changeQuery({ code: asTyped(code) })}>
      <div class="welcome-choices">
        {notice && !form.errors.code && <Refused>{notice}</Refused>}
        <Field
          label={t('link.code')}
          name="code"
          autocomplete="off"
          value={code}
          onInput={setCode}
          isRequired
          hint={t('link.hint')}
          error={form.errors.code}
        />
        <footer>
          <Button kind="main" type="submit">
            {t('link.next')}
          </Button>
        </footer>
      </div>
    </Form>
  )
}

function Asking({ code }: { code: string }) {
  const [done, setDone] = useState<string>()
  const screen = useLoad<AskingScreen>(`link/${code}`, (signal) => get(pathOf(code), {}, signal))
  const { failure } = screen.now.value
  if (done !== undefined) return <Empty title={done} />
  if (failure?.status === 404) return <TypeCode notice={t('link.unknown')} />
  return <Loaded from={screen}>{(asking) => <Answer code={code} screen={asking} onDone={setDone} />}</Loaded>
}

function Answer({ code, screen, onDone }: { code: string; screen: AskingScreen; onDone: (said: string) => void }) {
  const [chosen, setChosen] = useState(screen.profiles[0]!)
  const [pin, setPin] = useState('')
  const form = useForm({
    pin: { wrong: chosen.needs_pin && pin === '' && t('form.required'), refused: t('link.pin.wrong') },
  })
  const answered = (send: () => Promise<unknown>, said: string) => async () => {
    try {
      await send()
    } catch (error) {
      if (toFailure(error).status !== 404) throw error
      return onDone(t('link.unknown'))
    }
    onDone(said)
  }
  const approve = answered(
    () => post(pathOf(code), { user_id: chosen.id, ...(chosen.needs_pin && { pin }) }),
    t('link.approved', { name: chosen.username }),
  )
  const refuse = answered(() => remove(pathOf(code)), t('link.refused'))
  return (
    <Form form={form} onSubmit={approve}>
      <div class="welcome-choices">
        <h2>{t('link.asks', { name: nameOf(screen) })}</h2>
        <p class="meta">{t('link.facts', { when: toMoment(screen.created), address: screen.address })}</p>
        <p>{t('link.warning')}</p>
        <output class="link-code" dir="ltr">
          {`${code.slice(0, 3)}-${code.slice(3)}`}
        </output>
        {form.refusal}
        {screen.profiles.length > 1 && (
          <fieldset class="link-profiles">
            <legend>{t('link.who')}</legend>
            {screen.profiles.map((profile) => (
              <label key={profile.id} class="check">
                <input
                  type="radio"
                  name="profile"
                  checked={profile.id === chosen.id}
                  onChange={() => (setChosen(profile), setPin(''))}
                />
                <Avatar of={profile} size={32} />
                <bdi>{profile.username}</bdi>
              </label>
            ))}
          </fieldset>
        )}
        {chosen.needs_pin && (
          <PinField
            label={t('link.pin', { name: chosen.username })}
            value={pin}
            onInput={setPin}
            error={form.errors.pin}
          />
        )}
        <footer>
          <Button onClick={refuse}>{t('link.refuse')}</Button>
          <Button kind="main" type="submit">
            {t('link.approve', { name: chosen.username })}
          </Button>
        </footer>
      </div>
    </Form>
  )
}
