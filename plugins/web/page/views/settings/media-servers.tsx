/** Media servers that are notified of changes: a form, a button to test each, and a sentence about its last error. */
import { Plus, RotateCw, Trash } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { Form, unlessChanged, useForm } from '../../parts/form.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { say } from '../../parts/toast.ts'
import { get, post, remove } from '../../server/api.ts'
import type { MediaServer } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { toAge, toMoment } from '../../texts/format.ts'
import { inWords, t } from '../../texts/lookup.ts'
import { Group, SwitchOption } from './option.tsx'

const KINDS = [
  ['jellyfin', 'Jellyfin'],
  ['emby', 'Emby'],
  ['plex', 'Plex'],
  ['kodi', 'Kodi'],
] as const

export function MediaServers() {
  const servers = useLoad<MediaServer[]>('settings/media-servers', (signal) => get('/api/face/server/', {}, signal))
  return (
    <Loaded from={servers}>
      {(all) => (
        <>
          {all.map((server) => (
            <One key={server.id} server={server} reload={servers.reload} />
          ))}
          <Add reload={servers.reload} />
        </>
      )}
    </Loaded>
  )
}

function One({ server, reload }: { server: MediaServer; reload: () => Promise<void> }) {
  const { id, name, kind, url, paths, error, said, asked, waiting, playlists } = server
  const path = `/api/face/server/${id}/`
  const test = async () => {
    const tried = await post<MediaServer>(`${path}test/`, {})
    await reload()
    if (tried.error === '') say(t('settings.servers.well', { name }))
  }
  const drop = async () => {
    await remove(path)
    await reload()
  }
  return (
    <Group title={name}>
      <SwitchOption
        label={t('settings.servers.on', { name })}
        value={server.is_on}
        onSave={async (wanted) => {
          await post(path, { is_on: wanted })
          await reload()
        }}
      />
      {kind !== 'kodi' && (
        <SwitchOption
          label={t('settings.servers.playlists', { name })}
          hint={t('settings.servers.playlists.hint')}
          value={server.with_playlists}
          onSave={async (wanted) => {
            await post(path, { with_playlists: wanted })
            await reload()
          }}
        />
      )}
      <div class="option-form">
        <code class="row-words">{url}</code>
        {paths.map(([ours, theirs]) => (
          <code class="row-words" key={ours}>
            {ours} → {theirs}
          </code>
        ))}
        {error !== '' && (
          <p class="bad" role="alert">
            {inWords(error, said)}
          </p>
        )}
        {asked !== undefined && (
          <p class="meta" title={toMoment(asked)}>
            {t('settings.servers.asked', { when: toAge(asked) })}
          </p>
        )}
        {playlists > 0 && <p class="meta">{t('settings.servers.playlists.count', { count: playlists })}</p>}
        {waiting > 0 && <p class="meta">{t('settings.servers.waiting', { count: waiting })}</p>}
        <div class="buttons">
          <Button icon={RotateCw} of={name} onClick={test}>
            {t('settings.servers.test')}
          </Button>
          <Button icon={Trash} of={name} onClick={drop}>
            {t('settings.servers.remove')}
          </Button>
        </div>
      </div>
    </Group>
  )
}

function Add({ reload }: { reload: () => Promise<void> }) {
  const [kind, setKind] = useState<(typeof KINDS)[number][0]>('jellyfin')
  const [url, setUrl] = useState('')
  const [key, setKey] = useState('')
  const [withPlaylists, setWithPlaylists] = useState(true)
  const form = useForm({
    url: { wrong: url.trim() === '' && t('form.required') },
    key: {},
  })
  const add = async () => {
    const name = KINDS.find(([one]) => one === kind)![1]
    await post('/api/face/server/', { name, kind, url: url.trim(), key, with_playlists: withPlaylists })
    setUrl(unlessChanged(url, ''))
    setKey(unlessChanged(key, ''))
    await reload()
  }
  return (
    <Group title={t('settings.servers.new')}>
      <Form form={form} class="option-form" onSubmit={add}>
        <p class="hint">{t('settings.servers.lead')}</p>
        <fieldset>
          <legend>{t('settings.servers.kind')}</legend>
          {KINDS.map(([one, label]) => (
            <label class="check" key={one}>
              <input type="radio" name="server-kind" checked={kind === one} onChange={() => setKind(one)} />
              <span>{label}</span>
            </label>
          ))}
        </fieldset>
        <Field
          label={t('settings.servers.url')}
          type="url"
          value={url}
          onInput={setUrl}
          autocomplete="off"
          placeholder="http://nas.lan:8096"
          hint={t('settings.servers.url.hint')}
          error={form.errors.url}
        />
        <Field
          label={t(kind === 'kodi' ? 'settings.servers.login' : 'settings.servers.key')}
          type="password"
          value={key}
          onInput={setKey}
          autocomplete="off"
          error={form.errors.key}
        />
        {kind !== 'kodi' && (
          <label class="check">
            <input
              type="checkbox"
              checked={withPlaylists}
              onChange={(event) => setWithPlaylists(event.currentTarget.checked)}
            />
            <span>{t('settings.servers.playlists.new')}</span>
          </label>
        )}
        <div class="buttons">
          <Button kind="main" type="submit" icon={Plus}>
            {t('settings.servers.add')}
          </Button>
        </div>
      </Form>
    </Group>
  )
}
