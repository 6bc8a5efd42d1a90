/** Webhooks: added, switched on and off, and tested, with their latest response. */
import { BellRing, Copy, Plus, RotateCw, Trash } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { copyText } from '../../parts/copy-text.ts'
import { confirm, Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { Form, unlessChanged, useForm } from '../../parts/form.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { say } from '../../parts/toast.ts'
import { Unfold } from '../../parts/unfold.tsx'
import { get, post, remove } from '../../server/api.ts'
import type { Delivery, Webhook, Webhooks } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { toAge, toMoment } from '../../texts/format.ts'
import { t, textOf } from '../../texts/lookup.ts'
import { Group, SwitchOption } from './option.tsx'

/** The name of an event in words; events of external plugins keep their own names. */
const eventName = (event: string): string => textOf(`settings.webhooks.event.${event}`, event)

interface Secret {
  name: string
  secret: string
}

export function WebhooksSection() {
  const webhooks = useLoad<Webhooks>('settings/webhooks', (signal) => get('/api/webhook/', {}, signal))
  const [shown, setShown] = useState<Secret>()
  return (
    <>
      <p class="settings-lead">{t('settings.webhooks.lead')}</p>
      <Loaded from={webhooks}>
        {({ webhooks: all, events }) => (
          <>
            {all.map((webhook) => (
              <One key={webhook.id} webhook={webhook} reload={webhooks.reload} showSecret={setShown} />
            ))}
            <Add events={events} reload={webhooks.reload} showSecret={setShown} />
          </>
        )}
      </Loaded>
      {shown && <SecretDialog {...shown} onClose={() => setShown(undefined)} />}
    </>
  )
}

interface OneProps {
  webhook: Webhook
  reload: () => Promise<void>
  showSecret: (secret: Secret) => void
}

function One({ webhook, reload, showSecret }: OneProps) {
  const { id, name, url, events, is_on: isOn, waiting, dropped, last } = webhook
  const path = `/api/webhook/${id}/`
  const test = async () => {
    const { state, error } = await post<Delivery>(`${path}test/`, {})
    await reload()
    if (state === 'delivered') say(t('settings.webhooks.tested'))
    else say(error, { isError: true })
  }
  const renew = async () => {
    const isSure = await confirm({
      title: t('settings.webhooks.renew.title'),
      text: <p>{t('settings.webhooks.renew.text')}</p>,
      action: t('settings.webhooks.renew'),
    })
    if (isSure) showSecret({ name, secret: (await post<{ secret: string }>(`${path}secret/`, {})).secret })
  }
  const drop = async () => {
    const isSure = await confirm({
      title: t('settings.webhooks.remove.title', { name }),
      text: <p>{t('settings.webhooks.remove.text')}</p>,
      action: t('settings.webhooks.remove'),
    })
    if (!isSure) return
    await remove(path)
    await reload()
    say(t('settings.webhooks.removed'))
  }
  return (
    <Group title={name}>
      <SwitchOption
        label={t('settings.webhooks.on', { name })}
        hint={events.map(eventName).join(' · ')}
        value={isOn}
        onSave={async (wanted) => {
          await post(path, { is_on: wanted })
          await reload()
        }}
      />
      <div class="option-form">
        <code class="row-words">{url}</code>
        {last && <LastAnswer delivery={last} />}
        {waiting > 0 && <p class="meta">{t('settings.webhooks.waiting', { count: waiting })}</p>}
        {dropped > 0 && <p class="bad">{t('settings.webhooks.dropped', { count: dropped })}</p>}
        <div class="buttons">
          <Button icon={BellRing} of={name} onClick={test}>
            {t('settings.webhooks.test')}
          </Button>
          <Button icon={RotateCw} of={name} onClick={renew}>
            {t('settings.webhooks.renew')}
          </Button>
          <Button icon={Trash} of={name} onClick={drop}>
            {t('settings.webhooks.remove')}
          </Button>
        </div>
        <Recent id={id} />
      </div>
    </Group>
  )
}

const STATES = {
  delivered: 'settings.webhooks.delivered',
  failed: 'settings.webhooks.failed',
  waiting: 'settings.webhooks.queued',
} as const

const stateOf = ({ state, tries }: Delivery): string =>
  state === 'waiting' && tries > 0 ? t('settings.webhooks.retried') : t(STATES[state])

const LastAnswer = ({ delivery }: { delivery: Delivery }) => (
  <p class={delivery.error === '' ? 'meta' : 'bad'} title={toMoment(delivery.asked ?? delivery.created)}>
    {t('settings.webhooks.last', { when: toAge(delivery.asked ?? delivery.created) })} · {stateOf(delivery)}
    {delivery.error !== '' && ` · ${delivery.error}`}
  </p>
)

/** Recent deliveries, loaded when opened. Responses are shown as plain text. */
function Recent({ id }: { id: number }) {
  const [deliveries, setDeliveries] = useState<Delivery[]>()
  const show = async () => setDeliveries(await get<Delivery[]>(`/api/webhook/${id}/delivery/`))
  return (
    <Unfold class="settings-advanced" title={t('settings.webhooks.recent')} onOpen={show}>
      {deliveries?.length === 0 && <p class="hint">{t('settings.webhooks.recent.none')}</p>}
      <ul class="settings-rows">
        {deliveries?.map((delivery) => (
          <li key={delivery.id}>
            <div class="row-words">
              <strong>{eventName(delivery.event)}</strong>
              <p class="meta" title={toMoment(delivery.created)}>
                {[toAge(delivery.created), stateOf(delivery), delivery.status].filter(Boolean).join(' · ')}
              </p>
              {delivery.error !== '' && <p class="bad">{delivery.error}</p>}
              {delivery.answer !== '' && <code>{delivery.answer}</code>}
            </div>
          </li>
        ))}
      </ul>
    </Unfold>
  )
}

function SecretDialog({ name, secret, onClose }: Secret & { onClose: () => void }) {
  return (
    <Dialog title={t('settings.webhooks.secret', { name })} onClose={onClose}>
      <p>{t('settings.webhooks.secret.text')}</p>
      <output class="code-block">{secret}</output>
      <footer class="buttons">
        <Button icon={Copy} onClick={() => copyText(secret)}>
          {t('settings.copy')}
        </Button>
        <Button kind="main" onClick={onClose}>
          {t('action.done')}
        </Button>
      </footer>
    </Dialog>
  )
}

function Add({ events, reload, showSecret }: { events: string[] } & Pick<OneProps, 'reload' | 'showSecret'>) {
  const [name, setName] = useState('')
  const [url, setUrl] = useState('')
  const [chosen, setChosen] = useState<string[]>([])
  const form = useForm({
    name: { wrong: name.trim() === '' && t('form.required') },
    url: { wrong: url.trim() === '' && t('form.required'), refused: t('settings.webhooks.url.bad') },
    events: { wrong: chosen.length === 0 && t('settings.webhooks.events.none'), showsRest: true },
  })
  const add = async () => {
    const body = { name: name.trim(), url: url.trim(), events: chosen }
    const { secret } = await post<Secret>('/api/webhook/', body)
    setName(unlessChanged(name, ''))
    setUrl(unlessChanged(url, ''))
    setChosen(unlessChanged(chosen, []))
    showSecret({ name: body.name, secret })
    await reload()
  }
  return (
    <Group title={t('settings.webhooks.new')}>
      <Form form={form} class="option-form" onSubmit={add}>
        <Field
          label={t('settings.webhooks.name')}
          value={name}
          onInput={setName}
          autocomplete="off"
          error={form.errors.name}
        />
        <Field
          label={t('settings.webhooks.url')}
          type="url"
          value={url}
          onInput={setUrl}
          autocomplete="off"
          placeholder="https://example.org/hook"
          hint={t('settings.webhooks.url.hint')}
          error={form.errors.url}
        />
        <fieldset>
          <legend>{t('settings.webhooks.events')}</legend>
          {events.map((event) => (
            <label class="check" key={event}>
              <input
                type="checkbox"
                checked={chosen.includes(event)}
                onChange={({ currentTarget: { checked } }) =>
                  setChosen((now) => (checked ? [...now, event] : now.filter((one) => one !== event)))
                }
              />
              <span>{eventName(event)}</span>
            </label>
          ))}
        </fieldset>
        {form.errors.events && (
          <p class="error" role="alert">
            {form.errors.events}
          </p>
        )}
        <div class="buttons">
          <Button kind="main" type="submit" icon={Plus}>
            {t('settings.webhooks.add')}
          </Button>
        </div>
      </Form>
    </Group>
  )
}
