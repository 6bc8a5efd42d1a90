/** Imports data of another app from a file or pasted text: shows a preview, then imports what the user has chosen. */
import { Download, History, Rss } from 'lucide'
import { useState } from 'preact/hooks'
import { download, subscribe } from '../../parts/adding.ts'
import { useTake } from '../../parts/beginning.tsx'
import { Button } from '../../parts/button.tsx'
import { Field, Select, Switch } from '../../parts/field.tsx'
import { FileButton } from '../../parts/file-button.tsx'
import { Form, FormButtons, useForm } from '../../parts/form.tsx'
import { say } from '../../parts/toast.ts'
import { ask, Failure, get, toFailure } from '../../server/api.ts'
import type { Account, ExportPreview, ExportTaken } from '../../server/records.ts'
import { forget, useLoad } from '../../stores/load.ts'
import { account as own } from '../../stores/session.ts'
import { t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'

type Found = ExportPreview['subscriptions'][number]

/** The number of entries with a checkbox. In a longer list, the others are always included. */
const MOST_LISTED = 500
/** Maximum length of file names; longer ones are shortened at the start. */
const MOST_NAME = 300

export function Exports() {
  const [pasted, setPasted] = useState('')
  const [preview, setPreview] = useState<ExportPreview>()
  const [upload, setUpload] = useState<Upload>()
  const form = useForm()
  const read = async (content: Blob, name?: string) => {
    setPreview(undefined)
    const sent = { content, type: 'application/octet-stream', name }
    try {
      const query = { name }
      setPreview(await ask<ExportPreview>('POST', '/api/subscription/preview/', { upload: sent, query }))
    } catch (error) {
      throw new Failure(400, { message: t('exports.refused', { reason: toFailure(error).message }) })
    }
    setUpload(sent)
  }
  const done = () => {
    setPreview(undefined)
    setPasted('')
  }
  return (
    <Group title={t('exports.title')} hint={t('exports.hint')}>
      <Form form={form} class="exports-form" onSubmit={() => read(new Blob([pasted]))}>
        <Field label={t('exports.paste')} hint={t('exports.paste.hint')} lines={3} value={pasted} onInput={setPasted} />
        <div class="exports-buttons">
          <FileButton
            label={t('exports.file')}
            busyLabel={t('exports.reading')}
            accept=".csv,.json,.html,.opml,.xml,.zip,.tgz,.gz,.db,.ezip,.txt"
            isBusy={form.isBusy}
            onFile={(file) => form.run(() => read(file, file.name.slice(-MOST_NAME)))}
          />
          <Button type="submit" disabled={pasted.trim() === ''}>
            {t('exports.preview')}
          </Button>
        </div>
        {form.refusal}
      </Form>
      {preview && (preview.subscriptions.length > 0 || !hasWatching(preview)) && (
        <Preview preview={preview} onDone={done} />
      )}
      {preview && upload && hasWatching(preview) && <Watching preview={preview} upload={upload} />}
    </Group>
  )
}

interface Upload {
  content: Blob
  type: string
  /** The name of the file; undefined: pasted text. */
  name: string | undefined
}

const hasWatching = ({ history, playlists }: ExportPreview): boolean => history.count + playlists.length > 0

/** Imports history and playlists. The server does not keep the uploaded file, so the import sends it again. */
function Watching({ preview: { history, playlists }, upload }: { preview: ExportPreview; upload: Upload }) {
  const accounts = useLoad('accounts', (signal) => get<Account[]>('/api/user/', {}, signal)).now.value.value ?? []
  const [user, setUser] = useState(own.value?.username ?? '')
  const isSeenHere = history.watched + history.positions > 0
  const areListsHere = playlists.some(({ here }) => here > 0)
  const [watched, setWatched] = useState(isSeenHere)
  const [lists, setLists] = useState(areListsHere)
  const form = useForm()
  const missing = [...new Set(playlists.flatMap((one) => one.missing))]
  const take = async () => {
    const query = { user, watched, playlists: lists, name: upload.name }
    const taken = await ask<ExportTaken>('POST', '/api/subscription/history/', { upload, query })
    forget()
    say(t('exports.taken', { count: taken.watched + taken.positions, lists: taken.playlists }))
  }
  const fetchMissing = () =>
    download(
      missing.map((id) => ({ word: id, target: { type: 'video', id, known: false } })),
      { isNow: false },
    )
  return (
    <Form form={form} class="exports-form" aria-label={t('exports.watching')} onSubmit={take}>
      {history.count > 0 && (
        <Switch
          label={t('exports.watched', { count: history.watched + history.positions, all: history.count })}
          hint={t('exports.watched.hint')}
          isOn={watched}
          disabled={!isSeenHere}
          onChange={setWatched}
        />
      )}
      {history.left_out > 0 && <p class="hint">{t('exports.left-out', { count: history.left_out })}</p>}
      {playlists.length > 0 && (
        <>
          <Switch
            label={t('exports.lists', { count: playlists.length })}
            hint={t('exports.lists.hint')}
            isOn={lists}
            disabled={!areListsHere}
            onChange={setLists}
          />
          <ul class="plain">
            {playlists.slice(0, MOST_LISTED).map(({ name, here, count }, at) => (
              <li key={at}>
                <span dir="auto">{name}</span> <span class="meta">{t('exports.list', { here, count })}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      <Select
        label={t('exports.user')}
        value={user}
        choices={accounts.map(({ username }) => ({ value: username, label: username }))}
        onChange={setUser}
      />
      {form.refusal}
      <div class="exports-buttons">
        {missing.length > 0 && (
          <Button icon={Download} isBusy={form.isBusy} onClick={() => form.run(fetchMissing)}>
            {t('exports.missing', { count: missing.length })}
          </Button>
        )}
        <Button kind="main" type="submit" icon={History} disabled={!watched && !lists}>
          {t('exports.take')}
        </Button>
      </div>
    </Form>
  )
}

function Preview({ preview, onDone }: { preview: ExportPreview; onDone: () => void }) {
  const fresh = preview.subscriptions.filter((one) => !one.is_subscribed)
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const { take, choice } = useTake('new')
  const form = useForm()
  const chosen = fresh.filter(({ id }) => !left.has(id))
  const known = preview.subscriptions.length - fresh.length
  const toggle = ({ id }: Found) => {
    const changed = new Set(left)
    if (!changed.delete(id)) changed.add(id)
    setLeft(changed)
  }
  const send = async () => {
    const understood = chosen.map(({ type, id }) => ({ word: id, target: { type, id, known: false } }))
    await subscribe(understood, { take })
    onDone()
  }
  return (
    <Form form={form} class="exports-form" aria-label={t('exports.found')} onSubmit={send}>
      <p role="status">{said(preview, fresh.length, known)}</p>
      {fresh.length > 0 && (
        <>
          <fieldset class="exports-list">
            <legend>{t('exports.which')}</legend>
            {fresh.slice(0, MOST_LISTED).map((one) => (
              <label class="check" key={one.id}>
                <input type="checkbox" checked={!left.has(one.id)} onChange={() => toggle(one)} />
                <span dir="auto">{one.name || one.id}</span>
                {one.type === 'playlist' && <span class="meta">{t('exports.playlist')}</span>}
              </label>
            ))}
            {fresh.length > MOST_LISTED && (
              <p class="hint">{t('exports.more', { count: fresh.length - MOST_LISTED })}</p>
            )}
          </fieldset>
          {choice}
          {form.refusal}
          <div class="exports-buttons">
            <FormButtons
              action={t('exports.subscribe', { count: chosen.length })}
              icon={Rss}
              disabled={chosen.length === 0}
              onCancel={onDone}
            />
          </div>
        </>
      )}
    </Form>
  )
}

function said({ skipped, skipped_count: count }: ExportPreview, fresh: number, known: number): string {
  const named = skipped.slice(0, 3).join(', ')
  return [
    fresh === 0 ? t('exports.nothing') : t('exports.new', { count: fresh }),
    ...(known > 0 ? [t('exports.known', { count: known })] : []),
    ...(count > 0 ? [t('exports.skipped', { count, names: count > 3 ? `${named} …` : named })] : []),
  ].join(' ')
}
