/**
 * The types of the API's replies, from the schemas that its routes declare (contract 5). Types only: no server code is
 * bundled.
 */
import type { PageBlock, PreferenceValues, Static, TSchema } from 'archivolt'
import type { listAdoptionChannels, listItems } from '../../../adoption/item-routes.ts'
import type { listPlaces } from '../../../adoption/place-routes.ts'
import type { findLibraries, listAdoptions } from '../../../adoption/routes.ts'
import type { makeRules } from '../../../adoption/rules.ts'
import type { listAsks, listOffers, listOwnAsks } from '../../../ask/routes.ts'
import type { listBackups, previewRestore } from '../../../backup/routes.ts'
import type { listWhole, previewWhole } from '../../../backup/whole/routes.ts'
import type { listBin, restoreEntries } from '../../../bin/routes.ts'
import type { listChannels } from '../../../channel/routes.ts'
import type { listFaults, showChecksums, showVideoChecksums } from '../../../checksum/routes.ts'
import type { showCookie, validateCookie } from '../../../cookie/routes.ts'
import type { previewText } from '../../../download/preview.ts'
import type { changeMany, listQueue } from '../../../download/routes.ts'
import type { previewExport, takeExport } from '../../../exports/routes.ts'
import type { listFaces, previewFace } from '../../../faces/routes.ts'
import type { listServers } from '../../../faces/servers/routes.ts'
import type { listRescues } from '../../../history/rescue.ts'
import type { listChanges } from '../../../history/routes.ts'
import type { showLibrary } from '../../../library/routes.ts'
import type { listNotifications } from '../../../notification/routes.ts'
import type { showOffsite } from '../../../offsite/routes.ts'
import type { showLink, showProvider } from '../../../oidc/routes.ts'
import type { resolveText, showPlatform } from '../../../platform/routes.ts'
import type { showCopy } from '../../../playable/copies/routes.ts'
import type { showPreviews } from '../../../playable/previews/routes.ts'
import type { listPlaylists } from '../../../playlist/routes.ts'
import type { showAddress } from '../../../plex/routes.ts'
import type { listPages, listPlugins } from '../../../plugin/routes.ts'
import type { listFeeds } from '../../../podcast/routes.ts'
import type { changePicture } from '../../../portrait/routes.ts'
import type { listGroups } from '../../../rules/group-routes.ts'
import type { addRule, listRules } from '../../../rules/routes.ts'
import type { listPreviewRows, listRuns, showPreview, showRun } from '../../../rules/run-routes.ts'
import type { listClips, listFiles } from '../../../said/routes.ts'
import type { listScreenTimes, showOwnScreenTime } from '../../../screentime/routes.ts'
import type { search } from '../../../search/routes.ts'
import type { askForCode, enterWithCode, showCode } from '../../../signincode/routes.ts'
import type { listSnapshots } from '../../../snapshot/routes.ts'
import type {
  biggestChannels,
  channelStats,
  playlistStats,
  qualityStats,
  videoStats,
  watchStats,
} from '../../../stats/routes.ts'
import type { listProposals, showDataFolder, showStorage } from '../../../storage/routes.ts'
import type { Take } from '../../../subscription/beginning.ts'
import type { subscribeChannels } from '../../../subscription/routes.ts'
import type { Wishes } from '../../../subscription/wishes.ts'
import type { listNotifications as listOutgoing, listSchedules } from '../../../task/schedule-routes.ts'
import type { listTaskKinds, showTask, showTaskLog } from '../../../task/task-routes.ts'
import type { addAccessToken, listAccessTokens } from '../../../user/access-token-routes.ts'
import type { listUsers } from '../../../user/account-routes.ts'
import type { listOfDevice } from '../../../user/device-routes.ts'
import type { showForwarded } from '../../../user/forwarded-routes.ts'
import type { showSession } from '../../../user/own-session.ts'
import type { listOwnSessions } from '../../../user/own-session-routes.ts'
import type { describePreferences } from '../../../user/preference-routes.ts'
import type { showToken } from '../../../user/sign-in-routes.ts'
import type { beginTotp, enableTotp, showTotp } from '../../../user/totp-routes.ts'
import type { showOwnPreferences } from '../../../user/user-preferences.ts'
import type { listMonths, listVideos } from '../../../video/routes.ts'
import type { listDeliveries, listWebhooks } from '../../../webhooks/routes.ts'

type ReplyOf<Route extends { reply: TSchema }> = Static<Route['reply']>

export type { Thread, ThreadPart } from '../../../video/comment-pages.ts'
export type { Comment } from '../../../video/comment-threads.ts'
/** Sort fields of a list of videos; in an address, `.asc` may follow. */
export type { SortName } from '../../../video/listing.ts'

export type Channel = ReplyOf<typeof listChannels>[number]
export type ChannelOverwrites = Channel['channel_overwrites']
/** A video whose channel is a whole record. */
export type Video = Omit<ReplyOf<typeof listVideos>[number], 'channel'> & { channel: Channel }
/** The number of videos published in each month. */
export type Months = ReplyOf<typeof listMonths>
export type Stream = Video['streams'][number]
export type Segment = NonNullable<Video['sponsorblock']>['segments'][number]
export type SignInCode = ReplyOf<typeof askForCode>
export type CodeOutcome = ReplyOf<typeof enterWithCode>
/** A video that a child may ask for. */
export type AskOffer = ReplyOf<typeof listOffers>[number]
/** An ask of the account. */
export type OwnAsk = ReplyOf<typeof listOwnAsks>[number]
/** The screen time that the account has left today. */
export type OwnScreenTime = ReplyOf<typeof showOwnScreenTime>
/** The daily screen time of an account. */
export type ScreenTime = ReplyOf<typeof listScreenTimes>[number]
/** An ask that waits for an answer. */
export type Ask = ReplyOf<typeof listAsks>[number]
/** A screen that shows a sign-in code. */
export type AskingScreen = ReplyOf<typeof showCode>
/** The state of a playable copy. */
export type CopyState = ReplyOf<typeof showCopy>
/** Clips from a search in subtitles. */
export type SaidClips = ReplyOf<typeof listClips>
export type SaidClip = SaidClips['clips'][number]
export type SaidFile = ReplyOf<typeof listFiles>[number]
/** Seek previews. */
export type SeekPreviews = ReplyOf<typeof showPreviews>
/** The rules that were made from the settings of another program. */
export type RulesMade = ReplyOf<typeof makeRules>
export type Places = ReplyOf<typeof listPlaces>
export type Place = Places['places'][number]
export type Adoptions = ReplyOf<typeof listAdoptions>
export type FoundLibraries = ReplyOf<typeof findLibraries>
export type Adoption = Adoptions['adoptions'][number]
export type AdoptionChannel = ReplyOf<typeof listAdoptionChannels>[number]
export type AdoptionItem = ReplyOf<typeof listItems>[number]
export type Playlist = ReplyOf<typeof listPlaylists>[number]
export type PlaylistEntry = Playlist['playlist_entries'][number]
export type QueueItem = ReplyOf<typeof listQueue>
export type ErrorClass = NonNullable<QueueItem['error_class']>
export type Notification = ReplyOf<typeof listNotifications>[number]
export type TaskRecord = ReplyOf<typeof showTask>
/** All tasks: what each does, and whether it can be started or scheduled. */
export type TaskKind = ReplyOf<typeof listTaskKinds>[number]
/** What an export of another program would subscribe to. */
export type ExportPreview = ReplyOf<typeof previewExport>
export type ExportTaken = ReplyOf<typeof takeExport>
export type PlatformState = ReplyOf<typeof showPlatform>
export type Health = PlatformState['health']
export type Schedule = ReplyOf<typeof listSchedules>[number]
/** Addresses that are notified when a task ends, by the name of the task. */
export type Outgoing = ReplyOf<typeof listOutgoing>
export type Faces = ReplyOf<typeof listFaces>
export type Face = Faces['faces'][number]
export type FacePreview = ReplyOf<typeof previewFace>
export type MediaServer = ReplyOf<typeof listServers>[number]
export type MetadataProvider = ReplyOf<typeof showAddress>
export type Webhooks = ReplyOf<typeof listWebhooks>
export type Webhook = Webhooks['webhooks'][number]
export type Delivery = ReplyOf<typeof listDeliveries>[number]
export type UserPreferences = ReplyOf<typeof showOwnPreferences>
export type Account = ReplyOf<typeof listUsers>[number]
export type OwnPictureChosen = ReplyOf<typeof changePicture>
/** An account that this device knows. */
export type DeviceAccount = ReplyOf<typeof listOfDevice>[number]
/** The results; videos, channels and playlists are whole records. */
export type SearchResults = Omit<
  ReplyOf<typeof search>['results'],
  'video_results' | 'channel_results' | 'playlist_results'
> & { video_results: Video[]; channel_results: Channel[]; playlist_results: Playlist[] }
/** A hit in the subtitles (contract 5.7). */
export type SubtitleHit = SearchResults['fulltext_results'][number]
export type CommentHit = NonNullable<SearchResults['comment_results']>[number]
/** The target of a pasted word, identified by its form; for a channel also its handle. */
export type Target = ReplyOf<typeof resolveText>[number]
/** What the platform says about a link. */
export type LinkLookup = ReplyOf<typeof previewText>

/** The signed-in account and its user preferences. */
export type Session = ReplyOf<typeof showSession>
export type OwnSession = ReplyOf<typeof listOwnSessions>[number]
/** Sign-ins on a device where the account had not signed in before. */
export type NewSignIn = Session['attention']['sign_ins'][number]
export type TotpState = ReplyOf<typeof showTotp>
export type NewTotp = ReplyOf<typeof beginTotp>
export type RecoveryCodes = ReplyOf<typeof enableTotp>
export type AccessToken = ReplyOf<typeof listAccessTokens>[number]
export type NewAccessToken = ReplyOf<typeof addAccessToken>
/** The user whom a proxy names. */
export type Forwarded = ReplyOf<typeof showForwarded>
/** The provider of single sign-on; null: there is none. */
export type ProviderName = ReplyOf<typeof showProvider>
export type ProviderLink = ReplyOf<typeof showLink>
export type TokenReply = ReplyOf<typeof showToken>
export type TaskLogLine = ReplyOf<typeof showTaskLog>[number]
export type QueueChanged = ReplyOf<typeof changeMany>
/** The task that a subscription started; `task_id` null: there was nothing to ask the platform for. */
export type Begun = Pick<ReplyOf<typeof subscribeChannels>, 'task_id'>
/** What a new subscription downloads: some of the newest videos, all, or none. */
export type { Take, Wishes }
export type Library = ReplyOf<typeof showLibrary>
export type CookieStatus = ReplyOf<typeof showCookie>
export type CookieValidated = ReplyOf<typeof validateCookie>
export type Podcast = ReplyOf<typeof listFeeds>[number]
export type Checksums = ReplyOf<typeof showChecksums>
export type Offsite = ReplyOf<typeof showOffsite>
export type WholeBackups = ReplyOf<typeof listWhole>
export type WholeBackup = WholeBackups['backups'][number]
export type WholePreview = ReplyOf<typeof previewWhole>
export type FileChecksum = ReplyOf<typeof showVideoChecksums>[number]
/** A file that differs from its checksum, is missing, or cannot be read. */
export type FileFault = ReplyOf<typeof listFaults>[number]
export type Change = ReplyOf<typeof listChanges>[number]
export type Rescue = ReplyOf<typeof listRescues>[number]
export type BinEntry = ReplyOf<typeof listBin>[number]
export type BinRestored = ReplyOf<typeof restoreEntries>
/** Rules about which videos are downloaded, and which are kept. */
export type Rules = ReplyOf<typeof listRules>
export type Rule = ReplyOf<typeof addRule>
export type RuleConditions = Rule['conditions']
export type RulePreview = ReplyOf<typeof showPreview>
export type RuleRows = ReplyOf<typeof listPreviewRows>
export type RuleRow = RuleRows['rows'][number]
export type RuleRuns = ReplyOf<typeof listRuns>
export type RuleRun = RuleRuns['runs'][number]
export type RuleRunShown = ReplyOf<typeof showRun>
export type ChannelGroup = ReplyOf<typeof listGroups>[number]
export type Backup = ReplyOf<typeof listBackups>[number]
export type RestorePreview = ReplyOf<typeof previewRestore>
export type Snapshots = ReplyOf<typeof listSnapshots>
export type Snapshot = Snapshots['snapshots'][number]
export type Plugin = ReplyOf<typeof listPlugins>[number]
/** A page of a plugin, and the routes it may call. */
export type PluginPage = ReplyOf<typeof listPages>[number]
export type VideoStats = ReplyOf<typeof videoStats>
export type ChannelStats = ReplyOf<typeof channelStats>
export type PlaylistStats = ReplyOf<typeof playlistStats>
export type QualityStats = ReplyOf<typeof qualityStats>
export type WatchStats = ReplyOf<typeof watchStats>
export type BiggestChannel = ReplyOf<typeof biggestChannels>[number]
export type StorageFigures = ReplyOf<typeof showStorage>
export type DataFolder = ReplyOf<typeof showDataFolder>
export type Proposal = ReplyOf<typeof listProposals>[number]

export type Paginate = PageBlock

export interface Page<Record> {
  data: Record[]
  paginate: Paginate
}

export interface Item<Record> {
  data: Record
}

/** The preferences of the installation: `/api/config/`. */
export type Preferences = PreferenceValues
/** Their schemas, by section. */
export type PreferencesSchema = ReplyOf<typeof describePreferences>
