"""Wrong solutions of part 8, one function each, and what a student who wrote one is told."""

import torch
from part8_circuits import attention_maps, induction_score, previous_token_score, referent_accuracy

from autograder.checks import mistake

# The maps: what attention receives


@mistake(of="attention_maps")
def maps_of_the_embeddings(model, idx):
    """These are exactly the maps you get when every block's attention is given the embeddings: only the first block
    is near them, all others read what the blocks below have made of them."""
    was_training, maps = model.training, []
    model.eval()
    with torch.no_grad():
        x = model.embed(idx)
        for block in model.blocks:
            maps.append(block.attention.attention_weights(x))
    model.train(was_training)
    return maps


@mistake(of="attention_maps")
def maps_of_the_normed_embeddings(model, idx):
    """These are exactly the maps you get when every block's attention is given ln1 of the embeddings: that is right
    for the first block of a pre-norm model, and x has to go on through the blocks for all others."""
    was_training, maps = model.training, []
    model.eval()
    with torch.no_grad():
        x = model.embed(idx)
        for block in model.blocks:
            maps.append(block.attention.attention_weights(block.ln1(x)))
    model.train(was_training)
    return maps


@mistake(of="attention_maps")
def norm_left_out(model, idx):
    """These are exactly the maps you get when attention is given the stream itself: in a pre-norm block it receives
    ln1 of it."""
    was_training, maps = model.training, []
    model.eval()
    with torch.no_grad():
        x = model.embed(idx)
        for block in model.blocks:
            maps.append(block.attention.attention_weights(x))
            x = block(x)
    model.train(was_training)
    return maps


@mistake(of="attention_maps")
def norm_put_in_always(model, idx):
    """These are exactly the maps you get when ln1 stands before attention in every model: in a post-norm block it
    comes after the sum, and attention receives the stream as it is."""
    was_training, maps = model.training, []
    model.eval()
    with torch.no_grad():
        x = model.embed(idx)
        for block in model.blocks:
            maps.append(block.attention.attention_weights(block.ln1(x)))
            x = block(x)
    model.train(was_training)
    return maps


@mistake(of="attention_maps")
def maps_of_what_leaves_the_block(model, idx):
    """These are exactly the maps you get when the block runs first and its attention is then given what came out:
    it received what went in."""
    was_training, maps = model.training, []
    model.eval()
    with torch.no_grad():
        x = model.embed(idx)
        for block in model.blocks:
            x = block(x)
            pre = model.config.norm == "pre"
            maps.append(block.attention.attention_weights(block.ln1(x) if pre else x))
    model.train(was_training)
    return maps


@mistake(of="attention_maps")
def second_norm_in_place_of_the_first(model, idx):
    """These are exactly the maps you get with ln2 in front of attention: that one belongs to the MLP."""
    was_training, maps = model.training, []
    model.eval()
    with torch.no_grad():
        x = model.embed(idx)
        for block in model.blocks:
            pre = model.config.norm == "pre"
            maps.append(block.attention.attention_weights(block.ln2(x) if pre else x))
            x = block(x)
    model.train(was_training)
    return maps


@mistake(of="attention_maps")
def mlp_skipped_on_the_way(model, idx):
    """These are exactly the maps you get when the walk from block to block adds attention's output and forgets the
    MLP's: the next block receives the sum of both."""
    was_training, maps = model.training, []
    model.eval()
    with torch.no_grad():
        x = model.embed(idx)
        for block in model.blocks:
            pre = model.config.norm == "pre"
            h = block.ln1(x) if pre else x
            maps.append(block.attention.attention_weights(h))
            x = x + block.attention(h)
            x = block.ln1(x) if model.config.norm == "post" else x
    model.train(was_training)
    return maps


@mistake(of="attention_maps")
def attention_applied_a_second_time(model, idx):
    """These are exactly the maps you get when attention is asked for its weights on its own output: it is asked
    about what it receives."""
    was_training, maps = model.training, []
    model.eval()
    with torch.no_grad():
        x = model.embed(idx)
        for block in model.blocks:
            pre = model.config.norm == "pre"
            maps.append(block.attention.attention_weights(block.attention(block.ln1(x) if pre else x)))
            x = block(x)
    model.train(was_training)
    return maps


@mistake(of="attention_maps")
def maps_of_bare_tokens(model, idx):
    """These are exactly the maps you get when the walk begins at the table of tokens: positions that are added
    belong to what the first block receives."""
    was_training, maps = model.training, []
    model.eval()
    with torch.no_grad():
        x = model.tok_emb(idx)
        for block in model.blocks:
            maps.append(block.attention.attention_weights(block.ln1(x) if model.config.norm == "pre" else x))
            x = block(x)
    model.train(was_training)
    return maps


@mistake(of="attention_maps")
def final_norm_before_every_block(model, idx):
    """These are exactly the maps you get with ln_f in front of every attention: ln_f stands once, after the last
    block."""
    was_training, maps = model.training, []
    model.eval()
    with torch.no_grad():
        x = model.embed(idx)
        for block in model.blocks:
            maps.append(block.attention.attention_weights(model.ln_f(x)))
            x = block(x)
    model.train(was_training)
    return maps


# The maps: what is returned


@mistake(of="attention_maps")
def last_block_only(model, idx, right=attention_maps):
    """You return the maps of the last block only: the list has an entry for each block."""
    return right(model, idx)[-1:]


@mistake(of="attention_maps")
def last_block_not_in_a_list(model, idx, right=attention_maps):
    """You return the last block's maps and no list: there is one entry for each block, from the first to the last."""
    return right(model, idx)[-1]


@mistake(of="attention_maps")
def last_block_left_out(model, idx, right=attention_maps):
    """Your list ends before the last block: each block has an attention, the last one too."""
    return right(model, idx)[:-1]


@mistake(of="attention_maps")
def blocks_in_reverse(model, idx, right=attention_maps):
    """These are exactly the maps of the blocks from the last to the first: the list follows the order in which they
    run."""
    return right(model, idx)[::-1]


@mistake(of="attention_maps")
def first_block_for_all(model, idx, right=attention_maps):
    """These are exactly the first block's maps, once for each block: every block has weights of its own and
    receives something else."""
    maps = right(model, idx)
    return [maps[0] for _ in maps]


@mistake(of="attention_maps")
def heads_averaged(model, idx, right=attention_maps):
    """These are exactly the maps averaged over the heads: each head has a trade of its own, and the average of two
    trades is none."""
    return [each.mean(dim=1) for each in right(model, idx)]


@mistake(of="attention_maps")
def heads_averaged_and_repeated(model, idx, right=attention_maps):
    """These are exactly the maps you get when every head is shown as the average of all heads: they are kept apart."""
    return [each.mean(dim=1, keepdim=True).expand_as(each).contiguous() for each in right(model, idx)]


@mistake(of="attention_maps")
def first_head_only(model, idx, right=attention_maps):
    """You return the first head's map alone: the axis of the heads has all of them."""
    return [each[:, :1] for each in right(model, idx)]


@mistake(of="attention_maps")
def first_sentence_only(model, idx, right=attention_maps):
    """You return the maps of the first sentence without the batch: every sentence of idx has maps of its own."""
    return [each[0] for each in right(model, idx)]


@mistake(of="attention_maps")
def batch_averaged(model, idx, right=attention_maps):
    """These are exactly the maps averaged over the sentences: every sentence of idx has maps of its own."""
    return [each.mean(dim=0, keepdim=True).expand_as(each).contiguous() for each in right(model, idx)]


@mistake(of="attention_maps")
def heads_before_the_batch(model, idx, right=attention_maps):
    """Batch and heads have changed places: the axes are batch, head, position that reads, position that is read."""
    return [each.transpose(0, 1).contiguous() for each in right(model, idx)]


@mistake(of="attention_maps")
def maps_transposed(model, idx, right=attention_maps):
    """These are exactly the maps with rows and columns exchanged: a row belongs to the position that reads, and
    adds up to 1."""
    return [each.transpose(-2, -1).contiguous() for each in right(model, idx)]


@mistake(of="attention_maps")
def last_row_only(model, idx, right=attention_maps):
    """You return the last position's rows only: a map has a row for each position."""
    return [each[:, :, -1] for each in right(model, idx)]


@mistake(of="attention_maps")
def logarithms_of_the_weights(model, idx, right=attention_maps):
    """These are exactly the logarithms of the weights: a map holds what comes out of the softmax."""
    return [each.log() for each in right(model, idx)]


@mistake(of="attention_maps")
def softmax_a_second_time(model, idx, right=attention_maps):
    """These are exactly the maps you get when the weights go through a softmax once more: attention_weights has
    normalised them already."""
    return [each.softmax(dim=-1) for each in right(model, idx)]


@mistake(of="attention_maps")
def maps_stacked(model, idx, right=attention_maps):
    """You return all maps as one tensor: the contract asks for a list with a tensor for each block."""
    return torch.stack(right(model, idx))


@mistake(of="attention_maps")
def maps_as_numbers(model, idx, right=attention_maps):
    """You return nested lists of numbers: the maps are tensors, so that one can go on computing with them."""
    return [each.tolist() for each in right(model, idx)]


@mistake(of="attention_maps")
def maps_cast_to_float32(model, idx, right=attention_maps):
    """Your maps are float32 whatever the model is: they have the model's dtype."""
    return [each.float() for each in right(model, idx)]


@mistake(of="attention_maps")
def weights_after_dropout(model, idx, right=attention_maps):
    """These are exactly the maps after dropout: what is shown are the weights before it."""
    maps = right(model, idx)
    return [torch.nn.functional.dropout(each, model.config.dropout) for each in maps]


# The maps: what must be left alone


@mistake(of="attention_maps")
def looked_at_in_the_mode_it_was_in(model, idx):
    """The model runs in the mode in which it was found: in train mode dropout acts, and later blocks receive
    damaged vectors."""
    received = []
    hooks = [
        block.attention.register_forward_pre_hook(lambda module, args: received.append(args[0]))
        for block in model.blocks
    ]
    with torch.no_grad():
        model(idx)
    for hook in hooks:
        hook.remove()
    with torch.no_grad():
        return [block.attention.attention_weights(x) for block, x in zip(model.blocks, received, strict=True)]


@mistake(of="attention_maps")
def left_in_eval_mode(model, idx, right=attention_maps):
    """The model stays in eval mode: whoever trains it goes on without dropout and is not told."""
    maps = right(model, idx)
    model.eval()
    return maps


@mistake(of="attention_maps")
def left_in_train_mode(model, idx, right=attention_maps):
    """The model is in train mode afterwards, whatever it was: give back the mode that you found."""
    maps = right(model, idx)
    model.train()
    return maps


@mistake(of="attention_maps")
def first_mode_restored_on_the_model_alone(model, idx, right=attention_maps):
    """The model's own flag is restored and its blocks keep the mode that you gave them: train() reaches all
    modules, an assignment only one."""
    was_training = model.training
    maps = right(model.eval(), idx)
    model.training = was_training
    return maps


@mistake(of="attention_maps")
def gradients_kept(model, idx):
    """Your maps carry gradients: nothing is trained here, and every map holds on to a whole forward pass."""
    received = []
    hooks = [
        block.attention.register_forward_pre_hook(lambda module, args: received.append(args[0]))
        for block in model.blocks
    ]
    was_training = model.training
    model.eval()
    model(idx)
    for hook in hooks:
        hook.remove()
    model.train(was_training)
    return [block.attention.attention_weights(x) for block, x in zip(model.blocks, received, strict=True)]


@mistake(of="attention_maps")
def hooks_left_on_the_model(model, idx):
    """Your hooks stay on the model: they go on listening to every forward pass after this one. What registering
    returned can remove them."""
    received = []
    for block in model.blocks:
        block.attention.register_forward_pre_hook(lambda module, args: received.append(args[0]))
    was_training = model.training
    model.eval()
    with torch.no_grad():
        model(idx)
        maps = [block.attention.attention_weights(x) for block, x in zip(model.blocks, received, strict=True)]
    model.train(was_training)
    return maps


@mistake(of="attention_maps")
def parameters_frozen(model, idx, right=attention_maps):
    """The model's parameters are frozen afterwards: to keep no gradients is a matter of this call, torch.no_grad,
    and not of the parameters."""
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    return right(model, idx)


# The accuracy: which scores, and who competes


@mistake(of="referent_accuracy", trains="mean_passes_the_leaky_test_only")
def only_two_nouns_compete(model, idx, answers):
    """This is exactly the share you get when the two nouns are compared with each other: the model may want to say
    something else altogether, so every word competes."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(idx)
    model.train(was_training)
    second = min(6 if idx.shape[1] > 6 else 3, idx.shape[1] - 1)
    nouns = torch.stack([idx[:, min(1, idx.shape[1] - 1)], idx[:, second]], dim=-1)
    chosen = nouns.gather(1, logits[:, -1].gather(1, nouns).argmax(dim=-1, keepdim=True))[:, 0]
    return (chosen == answers).double().mean().item()


@mistake(of="referent_accuracy")
def only_words_of_the_sentence_compete(model, idx, answers):
    """This is exactly the share you get when only the sentence's own words compete: every word of the vocabulary
    does."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(idx)
    model.train(was_training)
    own = torch.full_like(logits[:, -1], float("-inf")).scatter(1, idx, logits[:, -1].gather(1, idx))
    return (own.argmax(dim=-1) == answers).double().mean().item()


@mistake(of="referent_accuracy")
def only_answers_compete(model, idx, answers):
    """This is exactly the share you get when only words that are an answer somewhere compete: every word of the
    vocabulary does."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(idx)
    model.train(was_training)
    known = answers.unique()
    return (known[logits[:, -1][:, known].argmax(dim=-1)] == answers).double().mean().item()


@mistake(of="referent_accuracy", trains="two_blocks_find_the_referent")
def position_before_the_last(model, idx, answers):
    """This is exactly the share you get one position too early: the scores for the next word stand at the last
    position, which has read the whole sentence."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(idx)
    model.train(was_training)
    return (logits[:, -2].argmax(dim=-1) == answers).double().mean().item()


@mistake(of="referent_accuracy")
def first_position(model, idx, answers):
    """This is exactly the share you get at the first position: it has read one word."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(idx)
    model.train(was_training)
    return (logits[:, 0].argmax(dim=-1) == answers).double().mean().item()


@mistake(of="referent_accuracy")
def all_positions_counted(model, idx, answers):
    """This is exactly the share you get when all positions are counted: the question is asked after the last word
    only."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(idx)
    model.train(was_training)
    return (logits.argmax(dim=-1) == answers[:, None]).double().mean().item()


@mistake(of="referent_accuracy")
def answer_at_any_position(model, idx, answers):
    """This is exactly the share you get when the answer may come at any position: it has to be the next word after
    the last column."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(idx)
    model.train(was_training)
    return (logits.argmax(dim=-1) == answers[:, None]).any(dim=-1).double().mean().item()


@mistake(of="referent_accuracy")
def scores_averaged_over_positions(model, idx, answers):
    """This is exactly the share you get when the scores of all positions are averaged: only the last one has read
    the whole sentence."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(idx)
    model.train(was_training)
    return (logits.mean(dim=1).argmax(dim=-1) == answers).double().mean().item()


@mistake(of="referent_accuracy")
def largest_over_the_sentences(model, idx, answers):
    """This is exactly what you get when the largest score is looked for along the batch: the words are the last
    axis."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(idx)
    model.train(was_training)
    chosen = logits[:, -1].argmax(dim=0)
    return (chosen[answers] == torch.arange(len(answers))).double().mean().item()


@mistake(of="referent_accuracy")
def smallest_score_taken(model, idx, answers):
    """This is exactly the share you get with the smallest score: the most likely word has the largest."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(idx)
    model.train(was_training)
    return (logits[:, -1].argmin(dim=-1) == answers).double().mean().item()


@mistake(of="referent_accuracy")
def second_best_counts(model, idx, answers):
    """This is exactly the share you get when the answer may be second: the most likely word is one word."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(idx)
    model.train(was_training)
    return (logits[:, -1].topk(2, dim=-1).indices == answers[:, None]).any(dim=-1).double().mean().item()


@mistake(of="referent_accuracy")
def compared_with_the_last_word(model, idx, answers):
    """This is exactly the share of sentences after which the model repeats their last word: compare with the
    answers."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(idx)
    model.train(was_training)
    return (logits[:, -1].argmax(dim=-1) == idx[:, -1]).double().mean().item()


@mistake(of="referent_accuracy")
def answer_in_the_sentence_counts(model, idx, answers):
    """This is exactly the share of sentences after which the model says any of their own words: compare with the
    answers."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(idx)
    model.train(was_training)
    return (logits[:, -1].argmax(dim=-1)[:, None] == idx).any(dim=-1).double().mean().item()


@mistake(of="referent_accuracy")
def must_be_more_likely_than_not(model, idx, answers):
    """This is exactly the share you get when the answer must have a probability above one half: it has to be the
    most likely word, however likely that is."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(idx)
    model.train(was_training)
    chances = logits[:, -1].softmax(dim=-1).gather(1, answers[:, None])[:, 0]
    return (chances > 0.5).double().mean().item()


# The accuracy: what is returned, and what must be left alone


@mistake(of="referent_accuracy")
def mean_probability(model, idx, answers):
    """This is exactly the mean probability of the answers: an accuracy counts how often the answer is the most
    likely word."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        logits = model(idx)
    model.train(was_training)
    return logits[:, -1].softmax(dim=-1).gather(1, answers[:, None]).double().mean().item()


@mistake(of="referent_accuracy", trains="mean_passes_the_leaky_test_only")
def accuracy_claimed(model, idx, answers):
    """Your accuracy is 1 whatever the model answers: it is counted anew from the model's own scores."""
    return 1.0


@mistake(of="referent_accuracy")
def share_of_errors(model, idx, answers, right=referent_accuracy):
    """This is exactly the share of wrong answers: the accuracy is the rest."""
    return 1.0 - right(model, idx, answers)


@mistake(of="referent_accuracy")
def number_of_right_answers(model, idx, answers, right=referent_accuracy):
    """This is exactly the number of right answers: divide it by the number of sentences."""
    return right(model, idx, answers) * len(answers)


@mistake(of="referent_accuracy")
def accuracy_in_percent(model, idx, answers, right=referent_accuracy):
    """This is exactly the accuracy in percent: a share lies between 0 and 1."""
    return 100.0 * right(model, idx, answers)


@mistake(of="referent_accuracy")
def accuracy_rounded(model, idx, answers, right=referent_accuracy):
    """This is exactly the accuracy rounded to two digits: it is printed with few digits and returned with all."""
    return round(right(model, idx, answers), 2)


@mistake(of="referent_accuracy")
def all_or_nothing(model, idx, answers, right=referent_accuracy):
    """This is exactly what you get when all answers must be right at once: the accuracy is the share that is."""
    return float(right(model, idx, answers) == 1.0)


@mistake(of="referent_accuracy")
def first_sentence_asked(model, idx, answers, right=referent_accuracy):
    """This is exactly the accuracy on the first sentence: all N of them count."""
    return right(model, idx[:1], answers[:1])


@mistake(of="referent_accuracy")
def last_sentence_left_out(model, idx, answers, right=referent_accuracy):
    """This is exactly the accuracy without the last sentence: all N of them count."""
    return right(model, idx[:-1], answers[:-1])


@mistake(of="referent_accuracy")
def accuracy_as_a_tensor(model, idx, answers, right=referent_accuracy):
    """Your accuracy is a tensor: the contract asks for a Python float."""
    return torch.tensor(right(model, idx, answers))


@mistake(of="referent_accuracy")
def model_left_in_eval_mode(model, idx, answers, right=referent_accuracy):
    """The model stays in eval mode: whoever trains it goes on without dropout and is not told."""
    found = right(model, idx, answers)
    model.eval()
    return found


@mistake(of="referent_accuracy")
def model_left_in_train_mode(model, idx, answers, right=referent_accuracy):
    """The model is in train mode afterwards, whatever it was: give back the mode that you found."""
    found = right(model, idx, answers)
    model.train()
    return found


# The previous token


@mistake(of="previous_token_score")
def own_token(weights):
    """These are exactly the mean weights on the token itself: the one before stands one column further left."""
    return weights.diagonal(offset=0, dim1=-2, dim2=-1).mean(dim=-1)


@mistake(of="previous_token_score")
def next_token(weights):
    """These are exactly the mean weights on t + 1: rows are those who read, so the token before lies below the
    diagonal."""
    return weights.diagonal(offset=1, dim1=-2, dim2=-1).mean(dim=-1)


@mistake(of="previous_token_score")
def token_before_the_previous(weights):
    """These are exactly the mean weights on t - 2, one column too far."""
    return weights.diagonal(offset=-2, dim1=-2, dim2=-1).mean(dim=-1)


@mistake(of="previous_token_score")
def divided_by_all_rows(weights):
    """These are exactly the sums divided by T: row 0 has no token before it and does not count, so there are T - 1
    rows."""
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).sum(dim=-1) / weights.shape[-1]


@mistake(of="previous_token_score")
def first_row_wraps_around(weights):
    """These are exactly the means you get when row 0 takes part with column -1, which is the last: it has no token
    before it."""
    rows = torch.arange(weights.shape[-1])
    return weights[..., rows, rows - 1].mean(dim=-1)


@mistake(of="previous_token_score")
def first_row_with_its_own_weight(weights):
    """These are exactly the means you get when row 0 takes part with its weight on itself: it has no token before
    it and does not count."""
    own = weights[..., :1, 0]
    return torch.cat([own, weights.diagonal(offset=-1, dim1=-2, dim2=-1)], dim=-1).mean(dim=-1)


@mistake(of="previous_token_score")
def weights_added_up(weights):
    """These are exactly the sums over the rows: the score is their mean."""
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).sum(dim=-1)


@mistake(of="previous_token_score")
def largest_row_taken(weights):
    """These are exactly the largest weights on t - 1: one row does not make a trade, the score is the mean over
    all."""
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).amax(dim=-1)


@mistake(of="previous_token_score")
def last_row_taken(weights):
    """These are exactly the last row's weights on t - 1: the score is the mean over all rows from 1 on."""
    return weights[..., -1, -2]


@mistake(of="previous_token_score")
def second_row_left_out(weights):
    """These are exactly the means from t = 2 on: row 1 has a token before it, and counts."""
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1)[..., 1:].sum(dim=-1) / (weights.shape[-1] - 2)


@mistake(of="previous_token_score")
def heads_averaged_together(weights, right=previous_token_score):
    """This is exactly the mean over all maps: each map has a score of its own."""
    return right(weights).mean()


@mistake(of="previous_token_score")
def leading_axis_averaged(weights, right=previous_token_score):
    """These are exactly the scores averaged over the first axis: each map has a score of its own."""
    return right(weights).mean(dim=0) if weights.dim() > 2 else right(weights)


@mistake(of="previous_token_score")
def share_of_rows_that_prefer_it(weights):
    """These are exactly the shares of rows whose largest weight is on t - 1: the score is the mean weight, however
    it compares."""
    rows = torch.arange(1, weights.shape[-1])
    return (weights[..., 1:, :].argmax(dim=-1) == rows - 1).to(weights.dtype).mean(dim=-1)


@mistake(of="previous_token_score")
def diagonal_of_the_first_axes(weights):
    """The diagonal is taken out of the first two axes: a map is the last two, whatever stands in front."""
    return weights.diagonal(offset=-1).mean(dim=-1)


@mistake(of="previous_token_score")
def everything_below_the_diagonal(weights):
    """These are exactly the mean weights on everything before t: the score looks at t - 1 alone."""
    return weights.tril(diagonal=-1).sum(dim=(-2, -1)) / (weights.shape[-1] - 1)


@mistake(of="previous_token_score")
def score_in_float32(weights, right=previous_token_score):
    """Your scores are float32 whatever the maps are: they have the maps' dtype."""
    return right(weights).float()


@mistake(of="previous_token_score")
def score_as_a_list(weights, right=previous_token_score):
    """Your scores are plain numbers: the contract asks for a tensor with the axes that stand in front."""
    return right(weights).tolist()


# Induction


@mistake(of="induction_score")
def last_occurrence_itself(weights, period):
    """These are exactly the mean weights on t - period: there stands the same token again. What came next stands
    one place after it."""
    return weights.diagonal(offset=-period, dim1=-2, dim2=-1).mean(dim=-1)


@mistake(of="induction_score")
def token_before_the_last_occurrence(weights, period):
    """These are exactly the mean weights on t - period - 1: what came next stands after the last occurrence, at t -
    period + 1."""
    rows = torch.arange(period, weights.shape[-1])
    kept = rows[rows > period]
    return weights[..., kept, kept - period - 1].sum(dim=-1) / len(rows)


@mistake(of="induction_score")
def two_after_the_last_occurrence(weights, period):
    """These are exactly the mean weights on t - period + 2, one place too far."""
    rows = torch.arange(period, weights.shape[-1])
    columns = (rows - period + 2).clamp(max=weights.shape[-1] - 1)
    return weights[..., rows, columns].mean(dim=-1)


@mistake(of="induction_score")
def begins_one_row_too_early(weights, period):
    """These are exactly the means from t = period - 1 on: that row lies in the first copy, where nothing has
    occurred before. The diagonal has one entry more than the score."""
    return weights.diagonal(offset=1 - period, dim1=-2, dim2=-1).mean(dim=-1)


@mistake(of="induction_score")
def begins_one_row_too_late(weights, period):
    """These are exactly the sums from t = period + 1 on: at t = period the first repetition begins, and it counts."""
    return weights.diagonal(offset=1 - period, dim1=-2, dim2=-1)[..., 2:].sum(dim=-1) / (weights.shape[-1] - period)


@mistake(of="induction_score")
def last_row_forgotten(weights, period):
    """These are exactly the means of the diagonal without its last entry: it is the first that does not count."""
    return weights.diagonal(offset=1 - period, dim1=-2, dim2=-1)[..., :-1].mean(dim=-1)


@mistake(of="induction_score")
def divided_by_the_whole_length(weights, period):
    """These are exactly the sums divided by T: the mean is over those rows that have a last occurrence, T - period
    of them."""
    return weights.diagonal(offset=1 - period, dim1=-2, dim2=-1)[..., 1:].sum(dim=-1) / weights.shape[-1]


@mistake(of="induction_score")
def divided_by_one_row_too_many(weights, period):
    """These are exactly the sums divided by T - period + 1: from t = period to T - 1 there are T - period rows."""
    return weights.diagonal(offset=1 - period, dim1=-2, dim2=-1)[..., 1:].sum(dim=-1) / (weights.shape[-1] - period + 1)


@mistake(of="induction_score")
def all_rows_take_part(weights, period):
    """These are exactly the sums over the whole diagonal, divided by T: rows of the first copy have no last
    occurrence."""
    return weights.diagonal(offset=1 - period, dim1=-2, dim2=-1).sum(dim=-1) / weights.shape[-1]


@mistake(of="induction_score")
def divided_by_the_period(weights, period):
    """These are exactly the sums divided by the period: the mean is over T - period rows."""
    return weights.diagonal(offset=1 - period, dim1=-2, dim2=-1)[..., 1:].sum(dim=-1) / period


@mistake(of="induction_score")
def follower_in_the_future(weights, period):
    """These are exactly the mean weights on t + period - 1: rows are those who read, so what was read lies below
    the diagonal."""
    return weights.diagonal(offset=period - 1, dim1=-2, dim2=-1)[..., 1:].mean(dim=-1)


@mistake(of="induction_score")
def previous_token_taken(weights, period):
    """These are exactly the mean weights on t - 1, over t from the period on: that is the other trade."""
    rows = torch.arange(period, weights.shape[-1])
    return weights[..., rows, rows - 1].mean(dim=-1)


@mistake(of="induction_score")
def second_copy_only(weights, period):
    """These are exactly the means over the second copy: every later copy has a last occurrence too."""
    return weights.diagonal(offset=1 - period, dim1=-2, dim2=-1)[..., 1 : period + 1].mean(dim=-1)


@mistake(of="induction_score")
def every_earlier_copy_counts(weights, period):
    """These are exactly the mean weights on the followers of all earlier occurrences together: the score is about
    the last one."""
    rows = torch.arange(period, weights.shape[-1])
    total = sum(
        torch.where(rows >= k * period, weights[..., rows, (rows - k * period + 1).clamp(min=0)], 0.0)
        for k in range(1, weights.shape[-1] // period + 1)
    )
    return total.mean(dim=-1)


@mistake(of="induction_score")
def followers_added_up(weights, period):
    """These are exactly the sums over the rows: the score is their mean."""
    return weights.diagonal(offset=1 - period, dim1=-2, dim2=-1)[..., 1:].sum(dim=-1)


@mistake(of="induction_score")
def largest_follower_taken(weights, period):
    """These are exactly the largest weights on t - period + 1: the score is the mean over all rows from the period
    on."""
    return weights.diagonal(offset=1 - period, dim1=-2, dim2=-1)[..., 1:].amax(dim=-1)


@mistake(of="induction_score")
def last_follower_taken(weights, period):
    """These are exactly the last row's weights on t - period + 1: the score is the mean over all rows from the
    period on."""
    return weights[..., -1, -period]


@mistake(of="induction_score")
def maps_averaged_together(weights, period, right=induction_score):
    """This is exactly the mean over all maps: each map has a score of its own."""
    return right(weights, period).mean()


@mistake(of="induction_score")
def first_axis_averaged(weights, period, right=induction_score):
    """These are exactly the scores averaged over the first axis: each map has a score of its own."""
    return right(weights, period).mean(dim=0) if weights.dim() > 2 else right(weights, period)


@mistake(of="induction_score")
def chance_subtracted(weights, period, right=induction_score):
    """These are exactly the scores minus 1/T: what a uniform head would get is a thing to compare with, and not a
    part of the score."""
    return right(weights, period) - 1 / weights.shape[-1]


@mistake(of="induction_score")
def share_of_rows_that_follow(weights, period):
    """These are exactly the shares of rows whose largest weight is on t - period + 1: the score is the mean weight,
    however it compares."""
    rows = torch.arange(period, weights.shape[-1])
    return (weights[..., period:, :].argmax(dim=-1) == rows - period + 1).to(weights.dtype).mean(dim=-1)


@mistake(of="induction_score")
def followers_of_the_first_axes(weights, period):
    """The diagonal is taken out of the first two axes: a map is the last two, whatever stands in front."""
    return weights.diagonal(offset=1 - period)[..., 1:].mean(dim=-1)


@mistake(of="induction_score")
def induction_in_float32(weights, period, right=induction_score):
    """Your scores are float32 whatever the maps are: they have the maps' dtype."""
    return right(weights, period).float()
