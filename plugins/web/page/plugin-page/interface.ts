/** What a plugin page and a player button receive. Published as '@archivolt/plugin/page', types only. */

/** The default export of a page's module. Called once, when its frame opens. */
export type Start = (page: Page) => void | Promise<void>

export interface Page {
  /** An empty element for the page's content. The frame grows with it. */
  readonly root: HTMLElement
  readonly api: Api
  readonly reader: Reader
  /** The query of its address, without `?`. */
  readonly query: Readonly<Record<string, string>>
  /** Calls back when the query changes: by a link of the page itself, Back, or `navigate`. */
  onQuery(act: (query: Readonly<Record<string, string>>) => void): void
  /**
   * Opens another address: `/video/abc/`, or the page's own with another query: `/plugin/tide/?day=2`. Links do this by
   * themselves.
   */
  navigate(to: string): void
  readonly texts: Texts
  readonly components: Components
}

/** The default export of a button's module. Called at each press. */
export type Press = (player: Player) => void | Promise<void>

/** What a player button receives in addition to what pages have. It is invisible apart from its messages. */
export interface Player extends Pick<Page, 'api' | 'reader' | 'navigate' | 'texts'> {
  readonly playing: Playing
  /** Shows a sentence over the picture for some seconds. */
  say(text: string): void
  /** Seeks to this second. */
  jump(seconds: number): void
}

/** The state when the button was pressed. */
export interface Playing {
  readonly videoId: string
  readonly title: string
  /** Seconds. */
  readonly position: number
  readonly duration: number
}

export interface Reader {
  readonly username: string
  readonly isAdmin: boolean
  readonly mayDownload: boolean
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * Calls the API with the rights of the signed-in account: routes of the page's own plugin, and those that `asks` in its
 * manifest names. Rejects with a `Refusal`.
 */
export interface Api {
  get<Reply>(path: string, query?: Query): Promise<Reply>
  post<Reply>(path: string, body?: object, query?: Query): Promise<Reply>
  put<Reply>(path: string, body: object): Promise<Reply>
  remove<Reply>(path: string, body?: object): Promise<Reply>
}

/** Why a call failed: `message` is a sentence for people. */
export interface Refusal extends Error {
  /** The HTTP status; 0: there was no reply. */
  readonly status: number
  readonly code: string
  /** What is wrong, by the name of the field. */
  readonly fields: Readonly<Record<string, string>>
}

/** Formats numbers, days and durations for the account's language. */
export interface Texts {
  number(value: number): string
  bytes(bytes: number): string
  /** 4981 → 1 hr 23 min */
  span(seconds: number): string
  /** 4981 → 1:23:01 */
  clock(seconds: number): string
  /** `2024-03-01` → 1 Mar 2024 */
  day(day: string): string
  /** Epoch seconds → 1 Mar 2024, 10:00 */
  moment(epochSeconds: number): string
  /** A day or epoch seconds → 3 weeks ago */
  age(when: string | number): string
}

export type Content = Node | string

export interface Row {
  title: string
  text?: string
  /** The address that its title links to. */
  to?: string
  /** As in the API, such as a video's `vid_thumb_url`. */
  picture?: string
  /** Shown at its end, such as buttons. */
  actions?: readonly Node[]
}

export interface FieldOptions {
  label: string
  value?: string
  type?: 'text' | 'number' | 'search' | 'url'
  hint?: string
  /** Called at each input. */
  onInput?: (value: string) => void
  /** Called when the field loses the focus, or Enter is pressed. */
  onChange?: (value: string) => void
}

export interface ChoiceOptions {
  label: string
  value: string
  choices: ReadonlyArray<{ value: string; label: string }>
  onChange: (value: string) => void
}

/** Elements in the style of the page, light and dark. Texts are always shown as plain text. */
export interface Components {
  /** Any element: `element('p', { class: 'hint' }, 'words')`. */
  element<Tag extends keyof HTMLElementTagNameMap>(
    tag: Tag,
    attributes?: Readonly<Record<string, string>>,
    ...content: readonly Content[]
  ): HTMLElementTagNameMap[Tag]
  heading(text: string): HTMLElement
  text(...content: readonly Content[]): HTMLElement
  /** Disabled until its action ends. */
  button(
    label: string,
    act: () => void | Promise<void>,
    options?: { kind?: 'main' | 'plain' | 'quiet' | 'danger' },
  ): HTMLButtonElement
  /** A link to an address of the page, such as `/video/abc/`. */
  link(label: string, to: string): HTMLElement
  field(options: FieldOptions): HTMLElement
  choice(options: ChoiceOptions): HTMLElement
  list(rows: readonly Row[]): HTMLElement
  /** Shows a sentence about what has happened, and announces it to screen readers. */
  notice(text: string, kind?: 'info' | 'error'): HTMLElement
  /** An empty state: why there is nothing, and what to do. */
  empty(title: string, ...content: readonly Content[]): HTMLElement
  /** A picture of the archive, by its URL in the API. */
  picture(path: string, alternative?: string): HTMLImageElement
}
