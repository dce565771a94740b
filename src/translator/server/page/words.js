/** Everything that the page says, in Korean and in English. `{name}` stands for a value. */

export const TEXTS = {
  ko: {
    skip: "본문으로 건너뛰기",
    title: "작은 영한 번역기",
    subtitle: "번역하고, 트랜스포머가 어디를 보았는지 들여다보세요.",
    toggle: "English",
    translate: "번역",
    english: "영어",
    korean: "한국어",
    empty: "번역할 영어 문장을 써 주세요.",
    count: "{n} / {limit}자",
    alternatives: "다른 번역",
    warnings: "주의",
    level: "말투",
    formal: "격식 있게",
    polite: "부드럽게",
    casual: "친구에게",
    plain: "글에서",
    key: "API 키",
    keys: "Enter 번역 · Shift+Enter 줄 바꿈",
    busy: "번역하는 중…",
    placeholder: "번역이 여기에 나와요.",
    noAttention: "이 서버는 내보낸 모델을 쓰고 있어서 어텐션을 볼 수 없어요.",

    words: "단어가 본 곳",
    wordsHint:
      "한국어 단어를 가리키면 그 단어를 쓸 때 본 영어 단어에, 영어 단어를 가리키면 그 단어를 본 한국어 단어에 색이 칠해져요. 많이 볼수록 색이 짙고, 가장 많이 본 곳에는 테두리가 생겨요.",
    sentence: "자세히 볼 문장",
    pieces: "단어 대신 조각(토큰)으로 보기",
    sourceSide: "영어 문장",
    targetSide: "한국어 문장",
    block: "문장 {n}",
    looked: "{word} → {list}",
    lookedBy: "{word} ← {list}",
    nothing: "단어를 가리키거나 Tab과 화살표 키로 골라 보세요.",
    linksFrom: "여기서 쓴 가중치: 크로스 어텐션, {layer}, {head}",

    maps: "어텐션 맵",
    attention: "어텐션",
    encoder: "인코더 셀프 어텐션",
    decoder: "마스크드 셀프 어텐션",
    cross: "크로스 어텐션",
    layer: "층",
    head: "헤드",
    layerMean: "모든 층의 평균",
    headMean: "모든 헤드의 평균",
    headAll: "모든 헤드를 나란히",
    layerN: "{n}층",
    headN: "헤드 {n}",
    encoderSays:
      "영어 문장이 자기 자신을 봐요. 쿼리, 키, 값이 모두 영어 문장(인코더의 바로 앞 층)에서 오고, 패딩만 가려요.",
    decoderSays:
      "지금까지 쓴 한국어가 자기 자신을 봐요. 쿼리, 키, 값이 모두 한국어 문장(디코더의 바로 앞 층)에서 오고, 아직 쓰지 않은 뒤쪽과 패딩을 가려요.",
    crossSays:
      "한국어를 쓰면서 영어 문장을 봐요. 쿼리는 디코더에서, 키와 값은 인코더 마지막 층의 출력에서 오고(디코더의 모든 층이 이 출력을 똑같이 받아요), 영어 쪽 패딩만 가려요. 행의 이름은 그 자리에서 쓴 말이에요.",
    corner: "쿼리↓ 키→",
    mapName: "{kind}, {layer}, {head}",
    cell: "쿼리 {query}, 키 {key}: {percent}%",
    cellBlocked: "쿼리 {query}, 키 {key}: 가려짐",
    cellAllowed: "쿼리 {query}, 키 {key}: 볼 수 있음",
    shape: "({q}, {k}): 쿼리 {q}개 × 키 {k}개",
    shapeWords: "({q}, {k}): 쿼리 단어 {q}개 × 키 단어 {k}개",
    joined: "{list} 묶었어요.",
    joinedQuery: "쿼리 조각 {n}개를 단어 {m}개로",
    joinedKey: "키 조각 {n}개를 단어 {m}개로",
    joinedComma: ", ",
    tensorShape: "한 층의 가중치 텐서: {shape} (배치, 헤드, 쿼리, 키)",
    readoutHint: "칸을 가리키면 여기에 내용이 나와요. 칸 안의 수는 퍼센트이고, 한 행을 모두 더하면 100이에요.",
    readoutHintDense: "칸을 가리키면 여기에 몇 퍼센트인지 나와요. 많이 볼수록 색이 짙고, 한 행을 모두 더하면 100퍼센트예요.",

    masks: "마스크",
    masksHint:
      "행의 토큰(쿼리)이 열의 토큰(키)을 볼 수 있으면 ●, 볼 수 없으면 ×예요. 여기서는 한 문장만 넣어 패딩이 없으므로 미래를 가리는 마스크만 드러나요.",
    maskName: "{kind}의 마스크",
    compared: "세 어텐션 비교",
    queryFrom: "쿼리",
    keyFrom: "키, 값",
    mask: "마스크",
    weightShape: "가중치의 모양",
    fromSource: "원문",
    fromTarget: "번역문",
    fromMemory: "메모리(인코더의 출력)",
    maskPadding: "패딩",
    maskFuture: "패딩과 미래",
    maskSource: "원문의 패딩",
    axes: "배치, 헤드, 쿼리, 키",

    steps: "한 토큰씩 번역하기",
    stepsHint:
      "디코더는 지금까지 읽은 토큰으로 다음 토큰의 확률을 구해서 확률이 가장 높은 것을 고르고(탐욕적 디코딩), 고른 토큰을 다시 읽어요.",
    first: "처음",
    previous: "이전",
    next: "다음",
    last: "끝",
    play: "재생",
    pause: "멈춤",
    stepOf: "{n} / {total}단계",
    stepSays: "{n}단계: {piece} 선택, {percent}%",
    read: "디코더가 읽은 것",
    candidates: "확률이 높은 다음 토큰",
    piece: "토큰",
    probability: "확률",
    chosen: "선택",
    lookedAt: "이때 원문에서 본 곳",
    lookedAtHint: "모든 층과 헤드의 평균",
    soFar: "지금까지의 번역",
    nothingYet: "(아직 없음)",
    otherWayHere:
      "맨 위의 번역은 여러 후보를 함께 따라가는 빔 서치로 얻었지만, 여기부터는 매번 확률이 가장 높은 토큰만 고르는 탐욕적 디코딩을 따라가요. 그래서 두 번역이 서로 달라요. 탐욕적 디코딩의 결과:",

    shapes: "텐서의 모양",
    shapesHint:
      "완성된 번역문을 디코더에 한꺼번에 넣었을 때 모듈마다 들어가고 나온 텐서의 모양(shape)이에요. 첫째 축은 배치예요.",
    shapesOpen: "모듈 {n}개의 입력과 출력 보기",
    module: "모듈",
    class: "클래스",
    inputs: "입력",
    outputs: "출력",

    footer: "트랜스포머 디코더를 다루는 교재에 딸린 번역기예요. 일상적인 짧은 문장에 알맞아요.",
    retry: "다시 시도",
    serverSays: "서버의 설명:",
    error400: "서버가 이 요청을 이해하지 못했어요.",
    error403: "API 키가 없거나 맞지 않아요.",
    error408: "요청이 제때 도착하지 않았어요. 다시 시도해 보세요.",
    error413: "글이 너무 길어요. 줄여서 다시 시도해 보세요.",
    error429: "요청이 너무 많아요. 잠시 뒤에 다시 시도해 보세요.",
    error503: "서버가 바빠요. 잠시 뒤에 다시 시도해 보세요.",
    error500: "서버에 문제가 생겼어요.",
    errornetwork: "서버에 연결할 수 없어요. 연결을 확인하고 다시 시도해 보세요.",
    errorformat: "서버의 응답을 읽을 수 없어요.",
  },
  en: {
    skip: "Skip to the content",
    title: "A small English–Korean translator",
    subtitle: "Translate, and see where the Transformer looked.",
    toggle: "한국어",
    translate: "Translate",
    english: "English",
    korean: "Korean",
    empty: "Write an English sentence to translate.",
    count: "{n} / {limit} characters",
    alternatives: "Other translations",
    warnings: "Please note",
    level: "Speech level",
    formal: "formal",
    polite: "polite",
    casual: "casual",
    plain: "plain, written",
    key: "API key",
    keys: "Enter translates · Shift+Enter new line",
    busy: "Translating…",
    placeholder: "The translation appears here.",
    noAttention: "This server has an exported model, which shows no attention.",

    words: "Where each word looked",
    wordsHint:
      "Point at a Korean word and the English words that it looked at light up; point at an English word and the Korean words that looked at it do. The more, the stronger the colour; the strongest is outlined.",
    sentence: "Sentence to look into",
    pieces: "Show pieces (tokens) instead of words",
    sourceSide: "English sentence",
    targetSide: "Korean sentence",
    block: "Sentence {n}",
    looked: "{word} → {list}",
    lookedBy: "{word} ← {list}",
    nothing: "Point at a word, or choose one with Tab and the arrow keys.",
    linksFrom: "Weights used here: cross-attention, {layer}, {head}",

    maps: "Attention maps",
    attention: "Attention",
    encoder: "Encoder self-attention",
    decoder: "Masked self-attention",
    cross: "Cross-attention",
    layer: "Layer",
    head: "Head",
    layerMean: "mean of all layers",
    headMean: "mean of all heads",
    headAll: "all heads side by side",
    layerN: "layer {n}",
    headN: "head {n}",
    encoderSays:
      "The English sentence looks at itself: query, key and value all come from the source (the encoder layer before), and only padding is masked.",
    decoderSays:
      "The Korean written so far looks at itself: query, key and value all come from the target (the decoder layer before); what is not yet written, and padding, is masked.",
    crossSays:
      "While it writes Korean the decoder looks at the English: the query comes from the decoder, key and value from the output of the encoder's last layer, the same for every decoder layer, and only source padding is masked. A row is named after what was written there.",
    corner: "query↓ key→",
    mapName: "{kind}, {layer}, {head}",
    cell: "{query} looks at {key}: {percent} %",
    cellBlocked: "{query} may not look at {key}",
    cellAllowed: "{query} may look at {key}",
    shape: "({q}, {k}): {q} queries × {k} keys",
    shapeWords: "({q}, {k}): {q} query words × {k} key words",
    joined: "Pieces are joined: {list}.",
    joinedQuery: "query, {n} pieces to {m} words",
    joinedKey: "key, {n} pieces to {m} words",
    joinedComma: "; ",
    tensorShape: "The weights of one layer are a tensor of shape {shape}: batch, heads, queries, keys.",
    readoutHint: "Point at a cell to read it here. Numbers are percent; a row adds up to 100.",
    readoutHintDense: "Point at a cell to read its percent here. The more, the stronger the colour; a row adds up to 100 %.",

    masks: "Masks",
    masksHint:
      "● where the token of the row (query) may look at the token of the column (key), × where it is blocked. One sentence alone has no padding, so only the mask of the future shows.",
    maskName: "Mask of {kind}",
    compared: "Three attentions compared",
    queryFrom: "Query from",
    keyFrom: "Key, value from",
    mask: "Mask",
    weightShape: "Shape of the weights",
    fromSource: "source",
    fromTarget: "target",
    fromMemory: "memory (encoder output)",
    maskPadding: "padding",
    maskFuture: "padding and future",
    maskSource: "source padding",
    axes: "batch, heads, queries, keys",

    steps: "Token by token",
    stepsHint:
      "From what it has read so far the decoder gives every next token a probability; the greatest is chosen (greedy decoding) and read in turn.",
    first: "First",
    previous: "Previous",
    next: "Next",
    last: "Last",
    play: "Play",
    pause: "Pause",
    stepOf: "Step {n} of {total}",
    stepSays: "Step {n}: {piece} chosen, {percent} %",
    read: "What the decoder has read",
    candidates: "Likeliest next tokens",
    piece: "Token",
    probability: "Probability",
    chosen: "chosen",
    lookedAt: "Where it looked in the source",
    lookedAtHint: "mean over all layers and heads",
    soFar: "Translation so far",
    nothingYet: "(nothing yet)",
    otherWayHere:
      "The translation at the top followed several hypotheses (beam search). From here on the page follows greedy decoding, which wrote other words:",

    shapes: "Shapes of the tensors",
    shapesHint:
      "Input and output shapes of the modules when the decoder is given the whole translation at once. The first axis is the batch.",
    shapesOpen: "Show the inputs and outputs of {n} modules",
    module: "Module",
    class: "Class",
    inputs: "Inputs",
    outputs: "Outputs",

    footer: "The companion of a textbook chapter on the Transformer decoder. Made for short everyday sentences.",
    retry: "Try again",
    serverSays: "The server says:",
    error400: "The server did not understand this request.",
    error403: "The API key is missing or wrong.",
    error408: "The request did not arrive in time. Translate again.",
    error413: "The text is too long. Shorten it and translate again.",
    error429: "Too many requests. Try again in a moment.",
    error503: "The server is busy. Try again in a moment.",
    error500: "Something went wrong on the server.",
    errornetwork: "The server cannot be reached. Check the connection and try again.",
    errorformat: "The server's answer cannot be read.",
  },
};

/** The Korean names of the levels, by which both languages call them. */
export const ENDINGS = { formal: "합니다체", polite: "해요체", casual: "해체", plain: "한다체" };

let language = "ko";

export const currentLanguage = () => language;

export function setLanguage(name) {
  language = name in TEXTS ? name : "ko";
}

/** say("shape", {q: 3, k: 4}) -> "(3, 4): 3 queries × 4 keys" */
export function say(key, values = {}) {
  return TEXTS[language][key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/** The server's warnings, which are English, in Korean: $1, $2 stand for what the brackets caught. */
const WARNINGS = [
  [/^a long sentence was translated in (\d+) parts$/, "긴 문장을 $1개로 나누어 번역했어요."],
  [/^not carried over: (.+)$/s, "번역문에서 빠졌어요: $1"],
  [
    /^only the first (\d+) of (\d+) pieces were translated; split the sentence$/,
    "조각 $2개 중 앞의 $1개만 번역했어요. 문장을 나누어 써 보세요.",
  ],
  [/^the source has no English letters$/, "영어가 아닌 글이에요."],
  [/^the source has tags or entities, which are not text$/, "글에 태그나 문자 참조가 섞여 있어요."],
  [/^a phrase repeats itself$/, "같은 표현이 되풀이돼요."],
  [/^nothing was written$/, "번역된 내용이 없어요."],
  [/^much longer than the source$/, "번역문이 원문보다 훨씬 길어요."],
  [
    /^a number or address that the source lacks was left out$/,
    "원문에 없는 숫자나 주소가 번역문에 나와서 뺐어요.",
  ],
  [/^cut off at the length limit$/, "길이 제한에 걸려 번역이 중간에 끊겼어요."],
];

/** A warning in the page's language -> {text, lang}; one that is not known stays as it is. */
export function sayWarning(warning) {
  const known = language === "ko" ? WARNINGS.find(([pattern]) => pattern.test(warning)) : undefined;
  return known ? { text: warning.replace(...known), lang: "ko" } : { text: warning, lang: "en" };
}
