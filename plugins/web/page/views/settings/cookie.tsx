/** The cookie of an account on the platform: added, tested, switched off, deleted. Its text is never shown again. */
import { ShieldCheck, Trash } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { Form, unlessChanged, useForm } from '../../parts/form.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { say } from '../../parts/toast.ts'
import { get, post, put, remove } from '../../server/api.ts'
import type { CookieStatus, CookieValidated } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { toMoment } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'
import { Preference } from './preference-options.tsx'
import { usePreferences } from './preferences.ts'

export function CookieSection() {
  const cookie = useLoad<CookieStatus>('settings/cookie', (signal) => get('/api/cookie/', {}, signal))
  const preferences = usePreferences()
  const validate = async () => {
    const { cookie_validated: isValid } = await post<CookieValidated>('/api/cookie/')
    say(t(isValid ? 'settings.cookie.isValid' : 'settings.cookie.isNot'), { isError: !isValid })
    await cookie.reload()
  }
  const forgetIt = async () => {
    if (
      !(await confirm({
        title: t('settings.cookie.forget.title'),
        text: <p>{t('settings.cookie.forget.text')}</p>,
        action: t('settings.cookie.forget'),
        isDangerous: true,
      }))
    )
      return
    await remove('/api/cookie/')
    await Promise.all([cookie.reload(), preferences.reload()])
    say(t('settings.cookie.forgotten'))
  }
  return (
    <>
      <p class="settings-lead">{t('settings.cookie.lead')}</p>
      <Loaded from={cookie}>
        {({ cookie_enabled: isOn, status, validated }) =>
          (isOn || validated > 0) && (
            <Group title={t('settings.cookie.stored')}>
              <p class={status || validated === 0 ? 'option-line' : 'option-line bad'}>
                {validated === 0
                  ? t('settings.cookie.untried')
                  : t(status ? 'settings.cookie.good' : 'settings.cookie.bad', { when: toMoment(validated) })}
              </p>
              <Preference
                preferences={preferences}
                name="downloads.cookie_import"
                onSave={async (isOn) => {
                  await preferences.save({ downloads: { cookie_import: isOn === true } })
                  await cookie.reload()
                }}
              />
              {isOn && <Preference preferences={preferences} name="platform.cookie_use" />}
              <div class="option-foot">
                <Button icon={ShieldCheck} onClick={validate}>
                  {t('settings.cookie.validate')}
                </Button>
                <Button icon={Trash} onClick={forgetIt}>
                  {t('settings.cookie.forget')}
                </Button>
              </div>
            </Group>
          )
        }
      </Loaded>
      <Import onDone={() => Promise.all([cookie.reload(), preferences.reload()])} />
    </>
  )
}

function Import({ onDone }: { onDone: () => Promise<unknown> }) {
  const [text, setText] = useState('')
  const form = useForm({ cookie: { wrong: text.trim() === '' && t('form.required'), showsRest: true } })
  const submit = async () => {
    await put('/api/cookie/', { cookie: text })
    setText(unlessChanged(text, ''))
    say(t('settings.cookie.imported'))
    await onDone()
  }
  return (
    <Group title={t('settings.cookie.import')} hint={t('settings.cookie.import.hint')}>
      <Form form={form} class="option-form" onSubmit={submit}>
        <Field
          label={t('settings.cookie.text')}
          lines={6}
          value={text}
          onInput={setText}
          autocomplete="off"
          placeholder="# Netscape HTTP Cookie File"
          error={form.errors.cookie}
          hint={t('settings.cookie.text.hint')}
        />
        <div>
          <Button kind="main" type="submit">
            {t(form.isBusy ? 'settings.cookie.trying' : 'settings.cookie.take')}
          </Button>
        </div>
      </Form>
    </Group>
  )
}
