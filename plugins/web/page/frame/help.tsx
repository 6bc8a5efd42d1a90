/** The list of keyboard shortcuts. */
import { Dialog } from '../parts/dialog.tsx'
import { type PlainKey, t } from '../texts/lookup.ts'

type Entry = [keys: string[], text: string]

export function Help({
  onClose,
  sections,
}: {
  onClose: () => void
  sections: ReadonlyArray<{ letter: string; text: PlainKey & `nav.${string}` }>
}) {
  const everywhere: Entry[] = [
    [['/'], t('help.search')],
    [['?'], t('help.help')],
    ...sections.map(({ letter, text }): Entry => [['g', letter], t('help.go', { section: t(text) })]),
  ]
  const grids: Entry[] = [
    [['←', '↑', '→', '↓'], t('help.arrows')],
    [['Enter'], t('help.open')],
    [['w'], t('help.watched')],
    [['l'], t('help.later')],
    [['q'], t('help.playlist')],
    [['x', 'X'], t('help.select')],
  ]
  const player: Entry[] = [
    [['Space', 'k'], t('help.play')],
    [['j', 'l'], t('help.ten')],
    [['←', '→'], t('help.five')],
    [['↑', '↓'], t('help.volume')],
    [['m'], t('help.mute')],
    [['f'], t('help.full')],
    [['t'], t('help.theatre')],
    [['i'], t('help.pip')],
    [['c'], t('help.subtitles')],
    [['N', 'P'], t('help.next')],
    [['<', '>'], t('help.speed')],
    [[',', '.'], t('help.frame')],
    [['0–9'], t('help.part')],
  ]
  return (
    <Dialog title={t('help.title')} onClose={onClose} isWide>
      <div class="help">
        <Group title={t('help.everywhere')} entries={everywhere} />
        <Group title={t('help.grids')} entries={grids} />
        <Group title={t('help.player')} entries={player} />
      </div>
    </Dialog>
  )
}

function Group({ title, entries }: { title: string; entries: Entry[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {entries.map(([keys, text]) => (
          <div key={text}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
