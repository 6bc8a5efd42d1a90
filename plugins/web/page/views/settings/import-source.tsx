/** Import: the program that a folder was identified as and the mapping of its paths, with a form to correct both. */
import { Search } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { Field, Select } from '../../parts/field.tsx'
import { Form, useForm } from '../../parts/form.tsx'
import type { Adoption, Adoptions, Place } from '../../server/records.ts'
import { toPercent } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'
import { startScan } from './import-started.ts'

/** The reader that uses only file names and information files. */
const PLAIN = 'yt-dlp'
/** Matches the address of a server, which may be entered instead of a file. */
const IS_ADDRESS = /^https?:\/\//i

export type Sources = Adoptions['sources']

interface SourceProps {
  adoption: Adoption
  place: Place
  sources: Sources
  /** Nothing has been imported yet. */
  mayChange: boolean
  reload: () => Promise<void>
}

export function Source({ adoption, place, sources, mayChange, reload }: SourceProps) {
  const { source, catalog, map, place: placeId } = adoption
  const scan = async (said: object) => {
    await startScan(placeId, said)
    await reload()
  }
  const name = sources.find((one) => one.name === source)?.title ?? source
  return (
    <>
      {source !== '' && (
        <p>
          {t('settings.import.source', { name })}
          {catalog !== '' && (
            <>
              {' '}
              <span class="meta" dir="auto">
                {t('settings.import.source.catalog', { path: catalog })}
              </span>
            </>
          )}
        </p>
      )}
      {map && (
        <p class="meta" dir="auto">
          {t('settings.import.map', { from: map.from || '/', to: map.to, share: toPercent(map.share) })}
        </p>
      )}
      {map && !map.sure && (
        <p class="notice error">{t('settings.import.map.unsure', { name, share: toPercent(map.share) })}</p>
      )}
      {mayChange && (
        <details class="plan-part" open={map?.sure === false}>
          <summary class="unfold">{t('settings.import.source.change')}</summary>
          <Say adoption={adoption} place={place} sources={sources} scan={scan} />
        </details>
      )}
      {mayChange && map && !map.sure && (
        <Button onClick={() => scan({ source: PLAIN })}>{t('settings.import.source.without', { name })}</Button>
      )}
    </>
  )
}

interface SayProps extends Pick<SourceProps, 'adoption' | 'place' | 'sources'> {
  scan: (said: object) => Promise<void>
}

function Say({ adoption: { source, catalog, map }, place, sources, scan }: SayProps) {
  const [chosen, choose] = useState(source)
  const [at, setAt] = useState(catalog)
  const [username, setUsername] = useState('elastic')
  const [password, setPassword] = useState('')
  const [from, setFrom] = useState(map?.from ?? '')
  const [to, setTo] = useState(map?.to ?? place.path)
  const form = useForm()
  const isServer = IS_ADDRESS.test(at.trim())
  const isPlain = chosen === PLAIN || chosen === ''
  const send = async () => {
    const isMapSaid = from !== (map?.from ?? '') || to !== (map?.to ?? place.path) || map?.sure === false
    await scan({
      ...(chosen !== '' && { source: chosen }),
      ...(!isPlain && at.trim() !== '' && { catalog: at.trim() }),
      ...(!isPlain && isServer && password !== '' && { credentials: { username: username.trim(), password } }),
      ...(!isPlain && isMapSaid && { map: { from: from.trim(), to: to.trim() } }),
    })
  }
  return (
    <Form form={form} class="option-form" onSubmit={send}>
      <Select
        label={t('settings.import.source.program')}
        value={chosen}
        choices={[
          { value: '', label: t('settings.import.source.any') },
          ...sources.map(({ name, title }) => ({ value: name, label: title })),
        ]}
        onChange={choose}
      />
      {!isPlain && (
        <>
          <Field
            label={t('settings.import.source.at')}
            hint={t('settings.import.source.at.hint')}
            value={at}
            onInput={setAt}
          />
          {isServer && (
            <>
              <Field label={t('settings.import.source.username')} value={username} onInput={setUsername} />
              <Field
                label={t('settings.import.source.password')}
                hint={t('settings.import.source.password.hint')}
                type="password"
                autocomplete="off"
                value={password}
                onInput={setPassword}
              />
            </>
          )}
          <Field
            label={t('settings.import.map.from')}
            hint={t('settings.import.map.from.hint')}
            value={from}
            onInput={setFrom}
            placeholder="/downloads"
          />
          <Field label={t('settings.import.map.to')} value={to} onInput={setTo} />
        </>
      )}
      {form.refusal}
      <div class="buttons">
        <Button icon={Search} type="submit">
          {t('settings.import.again')}
        </Button>
      </div>
    </Form>
  )
}
